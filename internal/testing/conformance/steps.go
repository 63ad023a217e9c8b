package conformance

import (
	"fmt"
	"strings"
)

// eachStep calls f for input.yaml and then for each step in order, with the
// documents to apply and what was recorded after them.
func eachStep(c Case, f func(docs []map[string]any, want map[string]any) error) error {
	want, err := oneStep(c, "input.yaml", "expected.yaml", f)
	if err != nil {
		return err
	}
	for _, step := range texts(want["steps"]) {
		if _, err := oneStep(c, step+".yaml", "expected-after-"+step+".yaml", f); err != nil {
			return fmt.Errorf("after %s: %w", step, err)
		}
	}
	return nil
}

func oneStep(c Case, file, expected string, f func(docs []map[string]any, want map[string]any) error) (map[string]any, error) {
	docs, err := readDocs(c, file)
	if err != nil {
		return nil, err
	}
	wants, err := readDocs(c, expected)
	if err != nil {
		return nil, err
	}
	if len(wants) != 1 {
		return nil, fmt.Errorf("%s holds %d documents", expected, len(wants))
	}
	return wants[0], f(docs, wants[0])
}

func readDocs(c Case, file string) ([]map[string]any, error) {
	data, err := c.Read(file)
	if err != nil {
		return nil, err
	}
	return Docs(data)
}

// kindIn reads the kind of "apps.kruise.io/v1beta1 CloneSet".
func kindIn(of string) string { return of[strings.LastIndexByte(of, ' ')+1:] }
