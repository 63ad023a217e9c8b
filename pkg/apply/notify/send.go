package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// SignatureHeader has the HMAC-SHA256 of the body by the secret: "sha256=" and 64 hexadecimal
// digits.
const SignatureHeader = "Kubectl-Kruise-Signature"

// contentType is that of the structured mode (CloudEvents 1.0, HTTP protocol binding, 3.2).
const contentType = "application/cloudevents+json; charset=utf-8"

// mostAnswer is how much of an answer is read, so that a connection can be used again.
const mostAnswer = 64 << 10

// send sends one notification; final says that another attempt would not change the error.
// Errors do not have the address, which may be secret.
func (n *Notifier) send(ctx context.Context, h *hook, body []byte) (final bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return true, bare(err)
	}
	req.Header.Set("Content-Type", contentType)
	if len(n.opt.Secret) > 0 {
		req.Header.Set(SignatureHeader, Sign(n.opt.Secret, body))
	}
	res, err := n.opt.Client.Do(req)
	if err != nil {
		return false, bare(err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, mostAnswer)) // only the status counts
	_ = res.Body.Close()
	if res.StatusCode/100 == 2 {
		return false, nil
	}
	return refusedForGood(res.StatusCode), fmt.Errorf("status %d", res.StatusCode)
}

// refusedForGood reports whether a status says that the same request would not be taken later.
func refusedForGood(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status/100 == 4 || status/100 == 3
}

// Sign returns the value of [SignatureHeader].
func Sign(secret, body []byte) string {
	h := hmac.New(sha256.New, secret)
	h.Write(body)
	return "sha256=" + hex.EncodeToString(h.Sum(nil))
}

func bare(err error) error {
	if about, ok := errors.AsType[*url.Error](err); ok {
		return about.Err
	}
	return err
}
