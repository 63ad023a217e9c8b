package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/tuitest"
)

// session is what the moving picture of the README shows, and what of it is run: the first
// commands of the README, with colours.
var session = []struct {
	shown string
	args  []string
	// said reports which stream is on the terminal: what is not redirected.
	said func(out, errs string) string
}{
	{
		shown: "kubectl kruise render -f app.yaml > native.yaml",
		args:  []string{"render", "-f", "app.yaml"},
		said:  func(_, errs string) string { return errs },
	},
	{
		shown: "kubectl kruise plan -f new.yaml --against app.yaml --steps 1,50%,100% --out plan.yaml",
		args:  []string{"plan", "-f", "new.yaml", "--against", "app.yaml", "--steps", "1,50%,100%", "--out", "plan.yaml"},
		said:  func(out, errs string) string { return out + errs },
	},
	{
		shown: "kubectl kruise simulate plan.yaml --against app.yaml",
		args:  []string{"simulate", "plan.yaml", "--against", "app.yaml"},
		said:  func(out, errs string) string { return out + errs },
	},
}

// TestMovingPicture_IsUpToDate draws the session of the README, from the program itself: `make
// pictures` writes it. It is small, asks for nothing elsewhere and is the same each time.
func TestMovingPicture_IsUpToDate(t *testing.T) {
	dir := t.TempDir()
	app, err := os.ReadFile("../../examples/cloneset/app.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"app.yaml": string(app), "new.yaml": strings.Replace(string(app), "web:4.7.0", "web:4.8.0", 1)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var scenes []tuitest.Scene
	for _, s := range session {
		if want := "kubectl kruise " + strings.Join(s.args, " "); !strings.HasPrefix(s.shown, want) {
			t.Fatalf("%q is shown, %q is run", s.shown, want)
		}
		cmd := exec.CommandContext(t.Context(), "kubectl-kruise", append(s.args, "--color", "always")...)
		cmd.Dir, cmd.Env = dir, append(cmd.Environ(), alone(t)...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v\n%s", s.shown, err, errs.String())
		}
		scenes = append(scenes, tuitest.Scene{Command: s.shown, Output: strings.TrimRight(s.said(out.String(), errs.String()), "\n")})
	}
	picture := tuitest.Moving("A CloneSet is rendered for a cluster without Kruise; then an update of it is planned and simulated", scenes)
	if len(picture) > 32<<10 {
		t.Errorf("%d bytes", len(picture))
	}
	for _, foreign := range []string{"http://", "https://", "url(", "href", "<script", "@import"} {
		if strings.Contains(strings.Replace(picture, "http://www.w3.org/2000/svg", "", 1), foreign) {
			t.Errorf("the picture has %q in it", foreign)
		}
	}
	if !strings.Contains(picture, "prefers-reduced-motion") {
		t.Error("people who ask for less motion get it all")
	}
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	golden.Same(t, "../../docs/pictures/session.svg", picture)
}
