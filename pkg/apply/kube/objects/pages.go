package objects

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// Pages hands every object that options select to each, and asks the API server for [PageSize]
// objects at a time. It ends with the first error, of the server or of each.
func Pages(ctx context.Context, c dynamic.ResourceInterface, options metav1.ListOptions, each func(*unstructured.Unstructured) error) error {
	options.Limit = PageSize
	for {
		page, err := c.List(ctx, options)
		if err != nil {
			return err
		}
		for i := range page.Items {
			if err := each(&page.Items[i]); err != nil {
				return err
			}
		}
		// A continued list has the resource version of its first page.
		if options.Continue, options.ResourceVersion = page.GetContinue(), ""; options.Continue == "" {
			return nil
		}
	}
}
