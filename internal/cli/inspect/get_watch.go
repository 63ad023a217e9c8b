package inspect

import (
	"context"
	"errors"
	"io"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/rest"
	watchtools "k8s.io/client-go/tools/watch"
)

// follow lists what there is and follows its changes, as kubectl does. It is not
// kubectl's own: that ends the process at Ctrl-C, with a code that is not ours.
func (o *getOptions) follow(ctx context.Context, args []string) error {
	r := o.watchedResult(args)
	infos, err := r.Infos()
	switch {
	case apierrors.IsNotFound(err) && o.IgnoreNotFound:
		return nil
	case err != nil:
		return err
	case len(infos) == 0:
		return errors.New("there is nothing to follow")
	}
	shown := !o.WatchOnly
	printer, err := o.ToPrinter(infos[0].ResourceMapping(), &shown, o.AllNamespaces, false)
	if err != nil {
		return err
	}
	out := printers.GetNewTabWriter(o.Out)
	version, err := o.printListed(r, printer, out)
	if err != nil {
		return err
	}
	// What is watched from a list does not come again; a single object does, first.
	shown = version != startVersion
	w, err := r.Watch(version)
	if err != nil {
		return err
	}
	_, err = watchtools.UntilWithoutRetry(ctx, w, func(e watch.Event) (bool, error) {
		err := o.write(printer, e.Object, string(e.Type), out)
		shown = true
		return false, err
	})
	if errors.Is(err, watchtools.ErrWatchClosed) {
		return nil
	}
	return err
}

// watchedResult is the request for what the command line names.
func (o *getOptions) watchedResult(args []string) *resource.Result {
	return o.whole.NewBuilder().Unstructured().
		NamespaceParam(o.Namespace).DefaultNamespace().AllNamespaces(o.AllNamespaces).
		FilenameParam(o.ExplicitNamespace, &o.FilenameOptions).
		LabelSelectorParam(o.LabelSelector).FieldSelectorParam(o.FieldSelector).
		RequestChunksOf(o.ChunkSize).ResourceTypeOrNameArgs(true, args...).
		SingleResourceType().Latest().TransformRequests(o.asTable).Do()
}

// startVersion is the version to watch a single object from: about now.
const startVersion = "0"

// printListed prints what there is, and returns the version to go on from.
func (o *getOptions) printListed(r *resource.Result, printer printers.ResourcePrinter, out flushingWriter) (string, error) {
	obj, err := r.Object()
	if err != nil {
		return "", err
	}
	version, list := startVersion, []runtime.Object{obj}
	if meta.IsListType(obj) {
		if version, err = meta.NewAccessor().ResourceVersion(obj); err != nil {
			return "", err
		}
		list, _ = meta.ExtractList(obj)
	}
	for _, one := range list {
		if err := o.write(printer, one, string(watch.Added), out); err != nil {
			return "", err
		}
	}
	return version, nil
}

// flushingWriter aligns columns.
type flushingWriter interface {
	io.Writer
	Flush() error
}

func (o *getOptions) write(printer printers.ResourcePrinter, obj runtime.Object, what string, out flushingWriter) error {
	if o.OutputWatchEvents {
		obj = &metav1.WatchEvent{Type: what, Object: runtime.RawExtension{Object: obj}}
	}
	if err := printer.PrintObj(obj, out); err != nil {
		return err
	}
	return out.Flush()
}

// asTable asks for the columns that the server makes.
func (o *getOptions) asTable(req *rest.Request) {
	if !o.ServerPrint || !o.IsHumanReadablePrinter {
		return
	}
	group := metav1.GroupName
	req.SetHeader("Accept", strings.Join([]string{
		"application/json;as=Table;v=v1;g=" + group, "application/json;as=Table;v=v1beta1;g=" + group, "application/json",
	}, ","))
}
