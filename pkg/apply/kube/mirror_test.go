package kube

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

func configMapOf(name, uid, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(uid), ResourceVersion: version}}
}

func versions() *mirror[string] {
	return newMirror(newChangeSignal(), func(o metav1.Object) (string, error) {
		if o.GetName() == "bad" {
			return "", errors.New("it cannot be read")
		}
		return fmt.Sprintf("%s/%s@%s", o.GetName(), o.GetUID(), o.GetResourceVersion()), nil
	})
}

func TestMirror_KeepsNewest(t *testing.T) {
	type m = *mirror[string]
	for name, c := range map[string]struct {
		do   func(m m) error
		want string
	}{
		"nothing": {func(m) error { return nil }, "[]"},
		"sorted by name": {func(m m) error {
			return errors.Join(m.put(configMapOf("b", "2", "5")), m.put(configMapOf("a", "1", "6")))
		}, "[a/1@6 b/2@5]"},
		"newer": {func(m m) error {
			return errors.Join(m.put(configMapOf("a", "1", "9")), m.put(configMapOf("a", "1", "10")))
		}, "[a/1@10]"},
		"older": {func(m m) error {
			return errors.Join(m.put(configMapOf("a", "1", "10")), m.put(configMapOf("a", "1", "9")))
		}, "[a/1@10]"},
		"successor": {func(m m) error {
			return errors.Join(m.put(configMapOf("a", "1", "10")), m.put(configMapOf("a", "2", "12")))
		}, "[a/2@12]"},
		"late predecessor": {func(m m) error {
			return errors.Join(m.put(configMapOf("a", "2", "12")), m.put(configMapOf("a", "1", "10")))
		}, "[a/2@12]"},
		"gone": {func(m m) error {
			return errors.Join(m.put(configMapOf("a", "1", "10")), m.delete(configMapOf("a", "1", "11")))
		}, "[]"},
		"answer after deletion": {func(m m) error {
			return errors.Join(m.delete(configMapOf("a", "1", "11")), m.put(configMapOf("a", "1", "10")))
		}, "[]"},
		"deletion of another": {func(m m) error {
			return errors.Join(m.put(configMapOf("a", "2", "12")), m.delete(configMapOf("a", "1", "11")))
		}, "[a/2@12]"},
		"last state unknown": {func(m m) error {
			return errors.Join(m.put(configMapOf("a", "1", "10")), m.delete(cache.DeletedFinalStateUnknown{Obj: configMapOf("a", "1", "10")}))
		}, "[]"},
		"list": {func(m m) error {
			return errors.Join(m.put(configMapOf("a", "1", "4")), m.put(configMapOf("own", "3", "9")), m.replace([]any{configMapOf("b", "2", "5")}, "7"))
		}, "[b/2@5 own/3@9]"},
		"stale list": {func(m m) error {
			return errors.Join(m.put(configMapOf("a", "1", "9")), m.replace([]any{configMapOf("a", "1", "5")}, "7"))
		}, "[a/1@9]"},
		"looked for in vain": {func(m m) error {
			err := m.put(configMapOf("a", "1", "4"))
			m.forget("shop", "a", "1")
			return errors.Join(err, m.put(configMapOf("a", "1", "5")))
		}, "[]"},
		"looked for in vain, successor": {func(m m) error {
			err := m.put(configMapOf("a", "2", "4"))
			m.forget("shop", "a", "1")
			return err
		}, "[a/2@4]"},
		"unreadable, and gone": {func(m m) error {
			return errors.Join(m.put(configMapOf("bad", "1", "4")), m.delete(configMapOf("bad", "1", "5")))
		}, "[]"},
		"unreadable, and not listed": {func(m m) error {
			return errors.Join(m.put(configMapOf("bad", "1", "4")), m.replace([]any{configMapOf("a", "1", "4")}, "7"))
		}, "[a/1@4]"},
		"written, listed before any event": {func(m m) error {
			m.putWritten("shop", "a", "1", "5", "a/1@5")
			return m.replace([]any{configMapOf("a", "1", "5")}, "7")
		}, "[a/1@5]"},
		"written, gone": {func(m m) error {
			err := m.delete(configMapOf("a", "1", "6"))
			m.putWritten("shop", "a", "1", "5", "a/1@5")
			return err
		}, "[]"},
		"unreadable": {func(m m) error { return m.put(configMapOf("bad", "1", "4")) }, "it cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			m := versions()
			if err := c.do(m); err != nil {
				t.Fatal(err)
			}
			list, err := m.list()
			got := fmt.Sprint(list)
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestMirror_SignalsChangesOnly: a version that is not newer signals nothing.
func TestMirror_SignalsChangesOnly(t *testing.T) {
	m := versions()
	for _, c := range []struct {
		version string
		news    uint64
	}{{"5", 1}, {"5", 1}, {"4", 1}, {"6", 2}} {
		if err := m.put(configMapOf("a", "1", c.version)); err != nil || m.changes.count != c.news {
			t.Errorf("version %s: %d, want %d (%v)", c.version, m.changes.count, c.news, err)
		}
	}
}

// TestMirror_ShowsNoOldVersionOfWhatCannotBeRead: an object that was edited so that it cannot be read is
// missing from the list, which is signaled once, until it can be read again or is deleted.
func TestMirror_ShowsNoOldVersionOfWhatCannotBeRead(t *testing.T) {
	m := newMirror(newChangeSignal(), func(o metav1.Object) (string, error) {
		if o.GetLabels()["bad"] != "" {
			return "", errors.New(o.GetName() + " cannot be read")
		}
		return o.GetName() + "@" + o.GetResourceVersion(), nil
	})
	bad := func(name, version string) *corev1.ConfigMap {
		cm := configMapOf(name, "1", version)
		cm.Labels = map[string]string{"bad": "yes"}
		return cm
	}
	for i, c := range []struct {
		do     func() error
		want   string
		unread string
		news   uint64
	}{
		{func() error { return errors.Join(m.put(configMapOf("a", "1", "5")), m.put(configMapOf("b", "1", "6"))) }, "[a@5 b@6]", "[]", 2},
		{func() error { return m.put(bad("a", "7")) }, "[b@6]", "[a cannot be read]", 3},
		{func() error { return m.put(bad("a", "8")) }, "[b@6]", "[a cannot be read]", 3},
		{func() error { return m.put(configMapOf("a", "1", "9")) }, "[a@9 b@6]", "[]", 4},
		{func() error { return m.put(bad("c", "10")) }, "[a@9 b@6]", "[c cannot be read]", 5},
		{func() error { return m.delete(bad("c", "11")) }, "[a@9 b@6]", "[]", 6},
	} {
		err := c.do()
		list, fault := m.list()
		if got, unread := fmt.Sprint(list), fmt.Sprint(m.unread()); err != nil || got != c.want || unread != c.unread || (fault != nil) != (unread != "[]") || m.changes.count != c.news {
			t.Errorf("%d: %v, %s, unread %s, %d signals, want %s, %s, %d", i, err, got, unread, m.changes.count, c.want, c.unread, c.news)
		}
	}
}

// TestMirror_KeepsNewestInAnyOrder: in whatever order versions come in, the newest stays.
func TestMirror_KeepsNewestInAnyOrder(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := versions()
		order := r.Perm(20)
		for _, v := range order {
			if err := m.put(configMapOf("a", "1", fmt.Sprint(v+90))); err != nil {
				t.Fatal(err)
			}
		}
		if list, _ := m.list(); !slices.Equal(list, []string{"a/1@109"}) {
			t.Errorf("%v: %v", order, list)
		}
	}
}

// TestMirror_ReadingsEqualObjects: a list of readings does to a mirror what the objects
// themselves do.
func TestMirror_ReadingsEqualObjects(t *testing.T) {
	list := []any{configMapOf("a", "1", "4"), configMapOf("bad", "2", "5"), configMapOf("b", "3", "6")}
	plain, reduced := versions(), versions()
	read := slices.Clone(list)
	for i, o := range list {
		var err error
		if read[i], err = (reflectorStore[string]{reduced}).Transformer()(o); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range []*mirror[string]{plain, reduced} {
		if err := m.put(configMapOf("gone", "9", "3")); err != nil {
			t.Fatal(err)
		}
	}
	if err := plain.replace(list, "7"); err != nil {
		t.Fatal(err)
	}
	if err := reduced.replace(read, "7"); err != nil {
		t.Fatal(err)
	}
	want, wantErr := plain.list()
	got, gotErr := reduced.list()
	if !slices.Equal(got, want) || len(got) != 2 || wantErr == nil || gotErr == nil || gotErr.Error() != wantErr.Error() {
		t.Errorf("%v (%v), want %v (%v)", got, gotErr, want, wantErr)
	}
}

// TestMirror_RefusesOtherValues: what is no object at all is refused.
func TestMirror_RefusesOtherValues(t *testing.T) {
	m := versions()
	if _, err := m.readingOf("text"); err == nil {
		t.Error("a text was read")
	}
	if _, err := m.readingsOf(&corev1.ConfigMap{}); err == nil {
		t.Error("an object was read as a list")
	}
}
