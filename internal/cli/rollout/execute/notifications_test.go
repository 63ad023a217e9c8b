package execute

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
)

func TestNotifications_RefuseWrongFlags(t *testing.T) {
	for name, c := range map[string]struct {
		flags notifications
		want  string
	}{
		"nothing":    {notifications{}, ""},
		"hooks":      {notifications{URLs: []string{"https://a.example.com/x", "http://b:8080"}, Listen: ":8080"}, ""},
		"no address": {notifications{URLs: []string{"hooks"}}, "--notify: it is no http or https address"},
		"a password": {notifications{URLs: []string{"https://bob:hunter2@a.example.com"}}, "--notify: the address at a.example.com has a password in it"},
		"no port":    {notifications{Listen: "8080"}, "--listen: address 8080: missing port in address"},
	} {
		err := c.flags.Check()
		_, isUsage := errors.AsType[*command.UsageError](err)
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !isUsage || !strings.HasPrefix(err.Error(), c.want)):
			t.Errorf("%s: %v", name, err)
		case err != nil && strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%s: the password is shown", name)
		}
	}
}

func TestNotifications_ReadTheSecretFromAFile(t *testing.T) {
	file, empty := filepath.Join(t.TempDir(), "secret"), filepath.Join(t.TempDir(), "empty")
	for name, text := range map[string]string{file: "from the file\n", empty: "\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	environment := func(name string) string {
		return map[string]string{"KUBECTL_KRUISE_NOTIFY_SECRET": "from the environment"}[name]
	}
	for path, want := range map[string]string{"": "from the environment", file: "from the file"} {
		got, err := (&notifications{secretFile: path}).secret(environment)
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", path, got, err)
		}
	}
	for text, want := range map[string]string{"with a line\n": "with a line", "": ""} {
		if got, err := (&notifications{}).secret(func(string) string { return text }); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if got, err := (&notifications{}).secret(func(string) string { return "\n" }); err == nil {
		t.Errorf("%q", got)
	}
	for _, path := range []string{empty, file + "-not-there"} {
		if got, err := (&notifications{secretFile: path}).secret(environment); err == nil {
			t.Errorf("%s: %q", path, got)
		}
	}
}

// TestNotifications_ServeMetricsDuringTheRollout: what is served ends with the rollout, and an address that is taken is
// said before it begins.
func TestNotifications_ServeMetricsDuringTheRollout(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	told := &Execution{Flags: Flags{Notifications: notifications{Listen: address}}}
	if _, err := told.Serve(); err == nil || !strings.HasPrefix(err.Error(), "--listen: ") {
		t.Errorf("%v", err)
	}
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	stop, err := told.Serve()
	if err != nil {
		t.Fatal(err)
	}
	again, err := told.Serve() // of each rollout of a process
	if err != nil {
		t.Fatal(err)
	}
	again()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil || string(body) != "ok\n" {
		t.Errorf("%q, %v", body, err)
	}
	req.Host = "rebound.example.com"
	if res, err = http.DefaultClient.Do(req); err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("a name that leads here: %s, %v", res.Status, err)
	}
	stop()
	if _, err := (&net.Dialer{}).DialContext(ctx, "tcp", address); err == nil {
		t.Error("it is still served")
	}
}
