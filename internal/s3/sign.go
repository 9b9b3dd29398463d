package s3

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// sign puts a signature of version 4 on a request, whose body has the given hash. Conditions and ranges are signed too: nobody on the way can take
// them off. Without credentials the request stays anonymous.
func sign(ctx context.Context, r *http.Request, c Credentials, region, bodyHash string, now time.Time) error {
	r.Header.Set("X-Amz-Content-Sha256", bodyHash)
	if c.ID == "" {
		return nil
	}
	who := aws.Credentials{AccessKeyID: c.ID, SecretAccessKey: c.secret, SessionToken: c.Token}
	return v4.NewSigner().SignHTTP(ctx, who, r, bodyHash, "s3", region, now, func(o *v4.SignerOptions) {
		o.DisableURIPathEscaping = true // objects are named by the path as it is sent
	})
}

// escape encodes all but what never needs it, in the one way that signatures are made of.
func escape(s string, path bool) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 || path && c == '/' {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}
