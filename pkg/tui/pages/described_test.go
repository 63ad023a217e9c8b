package pages

import (
	"strings"
	"testing"
)

// TestDescribed_MasksSecrets: what kubectl writes out of a container is not all shown.
func TestDescribed_MasksSecrets(t *testing.T) {
	t.Parallel()
	var seen strings.Builder
	for _, line := range described(`Name:         web
Labels:       app=web
              token=zebra-label
Annotations:  example.com/api-key: zebra-key
              example.com/note: kept
              example.com/token:
                zebra-long
                zebra-longer
Containers:
  main:
    Command:
      serve
      --token
      zebra-word
      --verbose
    Args:
      --password=zebra-flag
      postgres://shop:zebra-url@db/shop
    Environment:
      DB_PASSWORD:  zebra-env
      DB:           postgres://shop:zebra-env-url@db/shop
      WORD:         <set to the key 'word' in secret 'pass'>
`) {
		seen.WriteString(line.String() + "\n")
	}
	for _, want := range []string{
		"      --token\n      ***\n      --verbose\n", "--password=***\n", "Name:         web\n", "Labels:       app=web\n",
		"token=***\n", "Annotations:  example.com/api-key:  ***\n", "              example.com/note: kept\n", "DB_PASSWORD:  ***\n", "postgres://shop:***@db/shop\n", "<set to the key 'word'",
	} {
		if !strings.Contains(seen.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(seen.String(), "zebra") || t.Failed() {
		t.Errorf("shown is\n%s", seen.String())
	}
}
