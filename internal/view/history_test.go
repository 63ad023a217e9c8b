package view

import (
	"strings"
	"testing"
)

// TestHistory_PrintsTheTemplateWithoutSecrets: one revision is written with its template, without secrets.
func TestHistory_PrintsTheTemplateWithoutSecrets(t *testing.T) {
	r := Revision{Number: 1, Name: "web-1", First: true, Template: map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
		"name": "main", "image": "web:1", "env": []any{map[string]any{"name": "DB_PASSWORD", "value": "hunter2"}},
	}}}}}
	var full, short strings.Builder
	if err := History(&full, "cloneset/web", []Revision{r}, Style{Full: true}); err != nil {
		t.Fatal(err)
	}
	if err := History(&short, "cloneset/web", []Revision{r}, Style{}); err != nil {
		t.Fatal(err)
	}
	if text := full.String(); !strings.Contains(text, "template:\n") || !strings.Contains(text, "image: web:1") || strings.Contains(text, "hunter2") {
		t.Error(text)
	}
	if strings.Contains(short.String(), "template") {
		t.Error(short.String())
	}
}
