package ask

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/client-go/util/jsonpath"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// mostBody is how much of an answer is read.
const mostBody = 4 << 20

// fetch gets a URL: its status must be the one that is wanted, any 2xx by default,
// and what the JSONPath finds in it must be the value.
func fetch(ctx context.Context, may Permissions, v *plan.Verify) Answer {
	status, body, err := get(ctx, may, v.URL)
	if err != nil {
		return Answer{Text: err.Error()}
	}
	if v.Status != 0 && status != v.Status || v.Status == 0 && status/100 != 2 {
		return Answer{Text: fmt.Sprintf("status %d%s", status, wanted(v.Status))}
	}
	if v.JSONPath == "" {
		return Answer{true, fmt.Sprintf("status %d", status)}
	}
	found, err := find(body, v.JSONPath)
	if err != nil {
		return Answer{Text: fmt.Sprintf("%s: %v", v.JSONPath, err)}
	}
	if found != v.Value {
		return Answer{Text: fmt.Sprintf("%s is %q, not %q", v.JSONPath, short(found), v.Value)}
	}
	return Answer{true, fmt.Sprintf("%s is %q", v.JSONPath, short(found))}
}

func wanted(status int) string {
	if status == 0 {
		return ""
	}
	return fmt.Sprintf(", not %d", status)
}

// get fetches an address. Errors do not name it: it may hold a password.
func get(ctx context.Context, may Permissions, address string) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, nil, bare(err)
	}
	if err := checkURL(req.URL, may); err != nil {
		return 0, nil, err
	}
	req.Header.Set("Accept", "application/json, */*")
	res, err := client(may).Do(req)
	if err != nil {
		return 0, nil, bare(err)
	}
	defer res.Body.Close() //nolint:errcheck // it was only read
	body, err = io.ReadAll(io.LimitReader(res.Body, mostBody))
	return res.StatusCode, body, err
}

// bare is an error without the address that it is about.
func bare(err error) error {
	if about, ok := errors.AsType[*url.Error](err); ok {
		return about.Err
	}
	return err
}

// find returns what a JSONPath finds, as kubectl prints it; the braces may be left
// out.
func find(body []byte, path string) (string, error) {
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return "", fmt.Errorf("the answer is not JSON: %w", err)
	}
	if !strings.HasPrefix(path, "{") {
		path = "{" + path + "}"
	}
	p := jsonpath.New("verify")
	if err := p.Parse(path); err != nil {
		return "", err
	}
	var out bytes.Buffer
	err := p.Execute(&out, value)
	return out.String(), err
}
