package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"k8s.io/client-go/util/jsonpath"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// maxOutputBytes is how much of a command's output is used, from its end.
const maxOutputBytes = 16 << 10

// command runs a command on this machine; exit code 0 is good, and the last line that
// it wrote is the text.
func command(ctx context.Context, args []string) Answer {
	var out tail
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Stdout, c.Stderr, c.WaitDelay = &out, &out, time.Second
	err := c.Run()
	text := hideSecrets(out.lastLine(), os.Environ())
	var exit *exec.ExitError
	switch {
	case err == nil:
		return Answer{true, orDefault(text, "exit code 0"), "exit code 0"}
	case errors.As(err, &exit):
		return Answer{false, strings.TrimSuffix(fmt.Sprintf("%s: %s", exit.ProcessState, text), ": "), exit.String()}
	}
	return Answer{false, err.Error(), "the command could not be run"}
}

func orDefault(text, byDefault string) string {
	if text == "" {
		return byDefault
	}
	return text
}

// tail keeps the end of what is written.
type tail struct{ text []byte }

// Write takes everything.
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if extra := len(t.text) - maxOutputBytes; extra > 0 {
		t.text = t.text[extra:]
	}
	return len(p), nil
}

// lastLine is the last line that says anything.
func (t *tail) lastLine() string {
	text := strings.TrimSpace(string(t.text))
	return truncate(strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]))
}

// maxTextLength is how many characters an answer has.
const maxTextLength = 200

// truncate is printable text of a length that fits a line.
func truncate(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > maxTextLength {
		return string(runes[:maxTextLength]) + "…"
	}
	return text
}

// secretNameParts are parts of names of variables whose values are secret.
var secretNameParts = []string{"TOKEN", "SECRET", "PASSW", "KEY", "CREDENTIAL"}

// minSecretLength is how long a value must be to be recognised in a text.
const minSecretLength = 6

// hideSecrets is text without the values of variables that look secret.
func hideSecrets(text string, environ []string) string {
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		for _, part := range secretNameParts {
			if len(value) >= minSecretLength && strings.Contains(strings.ToUpper(name), part) {
				text = strings.ReplaceAll(text, value, "***")
			}
		}
	}
	return text
}

// maxBodyBytes is how much of an answer is read.
const maxBodyBytes = 4 << 20

// fetch gets a URL: its status must be the one that is wanted, any 2xx by default,
// and what the JSONPath finds in it must be the value.
func fetch(ctx context.Context, may Permissions, v *plan.Verify) Answer {
	status, body, err := get(ctx, may, v.URL)
	if err != nil {
		return failed(err)
	}
	if v.Status != 0 && status != v.Status || v.Status == 0 && status/100 != 2 {
		return said(false, fmt.Sprintf("status %d%s", status, expectedStatus(v.Status)))
	}
	if v.JSONPath == "" {
		return said(true, fmt.Sprintf("status %d", status))
	}
	found, err := evaluateJSONPath(body, v.JSONPath)
	if err != nil {
		return Answer{Text: truncate(fmt.Sprintf("%s: %v", v.JSONPath, err)), Reason: v.JSONPath + " was not found in the answer"}
	}
	if found != v.Value {
		return Answer{Text: fmt.Sprintf("%s is %q, not %q", v.JSONPath, truncate(found), v.Value), Reason: fmt.Sprintf("%s is not %q", v.JSONPath, v.Value)}
	}
	return said(true, fmt.Sprintf("%s is %q", v.JSONPath, truncate(found)))
}

func expectedStatus(status int) string {
	if status == 0 {
		return ""
	}
	return fmt.Sprintf(", not %d", status)
}

// get fetches an address. Errors do not name it: it may hold a password.
func get(ctx context.Context, may Permissions, address string) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, nil, withoutAddress(err)
	}
	if err := checkURL(req.URL, may); err != nil {
		return 0, nil, err
	}
	req.Header.Set("Accept", "application/json, */*")
	res, err := client(may).Do(req)
	if err != nil {
		return 0, nil, withoutAddress(err)
	}
	defer res.Body.Close() //nolint:errcheck // it was only read
	body, err = io.ReadAll(io.LimitReader(res.Body, maxBodyBytes))
	return res.StatusCode, body, err
}

// withoutAddress is an error without the address that it is about.
func withoutAddress(err error) error {
	if about, ok := errors.AsType[*url.Error](err); ok {
		return about.Err
	}
	return err
}

// evaluateJSONPath returns what a JSONPath finds, as kubectl prints it; the braces may be left
// out.
func evaluateJSONPath(body []byte, path string) (string, error) {
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
