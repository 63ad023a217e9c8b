package kube

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/objects"
)

// stored is how ConfigMaps keep records of one type: of the rollout of a workload, or of a group.
type stored[T any] struct {
	// label marks the ConfigMaps. text is the key of what changes, packed are those of what does not,
	// compressed.
	label, text string
	packed      []string
	// none is what an error wraps where there is no such record.
	none error
	// decode reads a ConfigMap whose packed parts unpack to fewer bytes than most.
	decode func(cm *corev1.ConfigMap, most int64) (T, error)
}

// programAnnotation has the program that wrote a record last, with its version.
const programAnnotation = "kubectl-kruise.dev/written-by"

// programName is what the annotation may say: users who may write ConfigMaps can write it.
var programName = regexp.MustCompile(`^kubectl-kruise (\(devel\)|[0-9A-Za-z.+-]{1,60})$`)

// read reads a ConfigMap. Its errors are [apply.UnreadableRecordError].
func (s stored[T]) read(cm *corev1.ConfigMap) (T, error) { return s.readTo(cm, maxUnpackedBytes) }

// readTo is read for parts that unpack to fewer bytes than that.
func (s stored[T]) readTo(cm *corev1.ConfigMap, most int64) (T, error) {
	out, err := s.decode(cm, min(most, maxUnpackedBytes))
	if err != nil {
		var none T
		return none, s.unreadable(cm, err)
	}
	return out, nil
}

func (s stored[T]) unreadable(cm *corev1.ConfigMap, err error) error {
	out := apply.UnreadableRecordError{Namespace: cm.Namespace, ConfigMap: cm.Name, Group: s.label == groupLabel, Err: err}
	if by := cm.Annotations[programAnnotation]; programName.MatchString(by) {
		out.Program = by
	}
	return out
}

// load reads the record of a name; what says whose it is.
func (s stored[T]) load(ctx context.Context, c kubernetes.Interface, namespace, name, what string) (out T, err error) {
	cm, err := c.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return out, fmt.Errorf("%s: %w", what, s.none)
	}
	if err != nil {
		return out, err
	}
	return s.read(cm)
}

// list reads all of a namespace, or of all for "". Those that cannot be read are returned apart, and so
// are those of a namespace that has more to read than a list may cost.
func (s stored[T]) list(ctx context.Context, c kubernetes.Interface, namespace string) (list []T, unreadable []apply.UnreadableRecordError, err error) {
	budget := listBudget{maxListBytes, map[string]int64{}}
	err = objects.EachPage(metav1.ListOptions{LabelSelector: s.label}, func(opt metav1.ListOptions) (next string, err error) {
		page, err := c.CoreV1().ConfigMaps(namespace).List(ctx, opt)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			cm := &page.Items[i]
			size, err := budget.take(cm, s.packed)
			if err != nil {
				err = s.unreadable(cm, err)
			}
			var record T
			if err == nil {
				record, err = s.readTo(cm, size+1)
			}
			if u, ok := errors.AsType[apply.UnreadableRecordError](err); ok {
				unreadable = append(unreadable, u)
				continue
			}
			list = append(list, record)
		}
		return page.Continue, nil
	})
	if err != nil {
		return nil, nil, err
	}
	return list, unreadable, nil
}

// put writes a ConfigMap as a whole, in the place of the one of its version, or of none, and reads
// what the server has of it then.
func (s stored[T]) put(ctx context.Context, c kubernetes.Interface, program string, cm *corev1.ConfigMap) (out T, err error) {
	if program != "" {
		cm.Annotations = map[string]string{programAnnotation: program}
	}
	client := c.CoreV1().ConfigMaps(cm.Namespace)
	if cm.ResourceVersion == "" {
		cm, err = client.Create(ctx, cm, metav1.CreateOptions{FieldManager: FieldManager})
	} else {
		cm, err = client.Update(ctx, cm, metav1.UpdateOptions{FieldManager: FieldManager})
	}
	if err != nil {
		return out, err
	}
	return s.read(cm)
}

// putText writes what changes, and reads what the server has then; it fails with a conflict if another
// process has written since that version.
func (s stored[T]) putText(ctx context.Context, c kubernetes.Interface, program string, of metav1.ObjectMeta, text string) (out T, err error) {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": of.ResourceVersion, "annotations": map[string]any{programAnnotation: program}},
		"data":     map[string]any{s.text: text},
	})
	if err != nil {
		return out, err
	}
	cm, err := c.CoreV1().ConfigMaps(of.Namespace).Patch(ctx, of.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: FieldManager})
	if err != nil {
		return out, err
	}
	return s.read(cm)
}

// notReadBack is why a record is not written that would be read back as another, or not at all.
func notReadBack(what string, err error) error {
	if u, ok := errors.AsType[apply.UnreadableRecordError](err); ok {
		err = u.Err // its hint is about a record that is stored
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s could not be read back, so it is not written: %w", what, err)
}

// The bounds of what the records of a list unpack to, in all and in each namespace: users who may
// write ConfigMaps in one namespace must not make the list of all namespaces expensive, nor hide
// the records of others.
const (
	maxListBytes      = 128 << 20
	maxNamespaceBytes = 16 << 20
)

// listBudget is what is left of these bounds.
type listBudget struct {
	all        int64
	namespaces map[string]int64
}

// take takes off the budget what the packed parts of a ConfigMap say that they unpack to.
func (b *listBudget) take(cm *corev1.ConfigMap, keys []string) (size int64, err error) {
	most := min(b.all, maxNamespaceBytes-b.namespaces[cm.Namespace])
	for _, key := range keys {
		size += unpackedSize(cm.BinaryData[key])
	}
	if size >= most {
		return 0, fmt.Errorf("left out of the list: it unpacks to %d KiB, and %d KiB of a namespace are read", size>>10, int64(maxNamespaceBytes)>>10)
	}
	b.all -= size
	b.namespaces[cm.Namespace] += size
	return size, nil
}

// unpackedSize is the size that packed text claims to unpack to.
func unpackedSize(text []byte) int64 {
	if len(text) < 4 {
		return 0
	}
	return int64(binary.LittleEndian.Uint32(text[len(text)-4:]))
}

func compress(text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(text) // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}

// maxUnpackedBytes bounds what a record can unpack to.
const maxUnpackedBytes = 64 << 20

func decompressTo(text []byte, most int64) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(z, most))
	if err == nil && int64(len(out)) == most {
		return nil, errors.New("it is too large")
	}
	return out, err
}
