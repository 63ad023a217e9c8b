package objects

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// pageSize bounds one answer of the API server, in objects.
const pageSize = 500

// Pages hands every object that options select to each, and asks the API server for [pageSize]
// objects at a time. It ends with the first error, of the server or of each.
func Pages(ctx context.Context, c dynamic.ResourceInterface, options metav1.ListOptions, each func(*unstructured.Unstructured) error) error {
	return EachPage(options, func(options metav1.ListOptions) (next string, err error) {
		page, err := c.List(ctx, options)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			if err := each(&page.Items[i]); err != nil {
				return "", err
			}
		}
		return page.GetContinue(), nil
	})
}

// EachPage calls list with the options of each page, [pageSize] objects at a time. list
// returns the token of the next page, "" behind the last one.
func EachPage(options metav1.ListOptions, list func(metav1.ListOptions) (next string, err error)) error {
	options.Limit = pageSize
	for {
		next, err := list(options)
		if err != nil || next == "" {
			return err
		}
		// A continued list has the resource version of its first page.
		options.Continue, options.ResourceVersion = next, ""
	}
}
