package s3

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"time"
)

// Listed is an object in a list.
type Listed struct {
	Key      string
	Size     int64
	Modified time.Time // by the store's clock
}

const (
	maxPage  = 4 << 20 // of a list: a thousand objects with names of a kilobyte
	maxPages = 1000
)

// List gives all objects whose keys begin with prefix.
func (c *Client) List(ctx context.Context, prefix string) (out []Listed, err error) {
	token := ""
	for range maxPages {
		query := "list-type=2&prefix=" + escape(prefix, false)
		if token != "" {
			query = "continuation-token=" + escape(token, false) + "&" + query
		}
		b, _, err := c.do(ctx, &request{method: http.MethodGet, query: query, limit: maxPage})
		if err != nil {
			return nil, err
		}
		var page struct {
			IsTruncated           bool
			NextContinuationToken string
			Contents              []struct {
				Key          string
				Size         int64
				LastModified time.Time
			}
		}
		if err := xml.Unmarshal(b, &page); err != nil {
			return nil, fmt.Errorf("read a list of objects: %w", err)
		}
		for _, o := range page.Contents {
			out = append(out, Listed{o.Key, o.Size, o.LastModified})
		}
		if token = page.NextContinuationToken; !page.IsTruncated || token == "" {
			return out, nil
		}
	}
	return nil, fmt.Errorf("%w: a list of objects without end", ErrTooLarge)
}
