package s3

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	gosync "sync"
)

const (
	// deletesAtOnce is how many objects one request deletes, the most that a store takes; where a store deletes one by one, singles are so many side by side.
	deletesAtOnce = 1000
	singles       = 16
)

// Delete removes objects, those of them that are there. Until ctx ends, it goes on with others where one cannot be removed.
func (c *Client) Delete(ctx context.Context, keys ...string) error {
	var failed error
	for len(keys) > 0 && ctx.Err() == nil {
		some := keys[:min(len(keys), deletesAtOnce)]
		err := c.deleteMany(ctx, some)
		if said, ok := errors.AsType[*Error](err); ok && !said.again() {
			err = c.deleteSingly(ctx, some) // not all stores know the other way
		}
		failed = errors.Join(failed, err)
		keys = keys[len(some):]
	}
	return errors.Join(failed, ctx.Err())
}

func (c *Client) deleteMany(ctx context.Context, keys []string) error {
	type object struct{ Key string }
	list := struct {
		XMLName xml.Name `xml:"Delete"`
		Quiet   bool
		Object  []object
	}{Quiet: true}
	for _, key := range keys {
		list.Object = append(list.Object, object{key})
	}
	body, err := xml.Marshal(list)
	if err != nil {
		return err
	}
	sum := md5.Sum(body) // the only checksum that every store knows here
	reply, _, err := c.do(ctx, &request{method: http.MethodPost, query: "delete=", body: body, limit: maxPage,
		header: [][2]string{{"Content-MD5", base64.StdEncoding.EncodeToString(sum[:])}, {"Content-Type", "application/xml"}}})
	if err != nil {
		return err
	}
	var result struct {
		Error []struct{ Code string }
	}
	if len(bytes.TrimSpace(reply)) == 0 {
		return nil
	}
	if err := xml.Unmarshal(reply, &result); err != nil {
		return fmt.Errorf("read what was deleted: %w", err)
	}
	if n := len(result.Error); n > 0 {
		return fmt.Errorf("%d of %d objects were not deleted: the store says %s", n, len(keys), plain(result.Error[0].Code))
	}
	return nil
}

func (c *Client) deleteSingly(ctx context.Context, keys []string) error {
	var wg gosync.WaitGroup
	var mu gosync.Mutex
	var failed error
	slots := make(chan struct{}, singles)
	for _, key := range keys {
		if ctx.Err() != nil {
			break
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			_, _, err := c.do(ctx, &request{method: http.MethodDelete, key: key, limit: maxError})
			if err != nil && !errors.Is(err, ErrNotFound) {
				mu.Lock()
				defer mu.Unlock()
				failed = err
			}
		})
	}
	wg.Wait()
	return failed
}
