package gitops

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// keyed are the fields by which items of a list are distinguished.
var keyed = []string{"name", "mountPath", "containerPort", "key"}

// CarryChange makes in into the change that leads from before to after, and returns what
// into is then. What before and after agree on stays as it was written: the
// server's defaults do not come into a manifest.
func CarryChange(before, after, into *tree.Node) *tree.Node {
	switch {
	case tree.Equal(before, after):
		return into
	case after == nil:
		return nil
	case (before == nil || tree.IsMap(before)) && tree.IsMap(after) && tree.IsMap(into):
		return carryMap(before, after, into) // what only the manifest has stays
	case (before == nil || tree.IsSeq(before)) && tree.IsSeq(after) && tree.IsSeq(into):
		if key := keyOf(before, after, into); key != "" {
			return carryList(before, after, into, key)
		}
	}
	return remarked(into, tree.Sync(into, tree.Value(after)))
}

// remarked is v with the comments of what it takes the place of, and in its quotes.
func remarked(old, v *tree.Node) *tree.Node {
	if old == nil || old == v {
		return v
	}
	v.HeadComment, v.LineComment, v.FootComment = old.HeadComment, old.LineComment, old.FootComment
	if old.Style != 0 && tree.IsString(old) && tree.IsString(v) { // a plain one may need quotes now
		v.Style = old.Style
	}
	return v
}

func carryMap(before, after, into *tree.Node) *tree.Node {
	tree.Each(before, func(key, _ *tree.Node) {
		if !tree.Has(after, key.Value) {
			tree.Delete(into, key.Value)
		}
	})
	tree.Each(after, func(key, value *tree.Node) {
		old, now := tree.Get(into, key.Value), tree.Get(before, key.Value)
		if v := CarryChange(now, value, old); v != nil && v != old {
			tree.Set(into, key.Value, v)
		}
	})
	return into
}

// carryList follows items by their key: what came is added last, what went is left
// out.
func carryList(before, after, into *tree.Node, key string) *tree.Node {
	kept := into.Content[:0:0]
	for _, item := range into.Content {
		name := tree.StrAt(item, key)
		was, _ := tree.Find(before, key, name)
		now, _ := tree.Find(after, key, name)
		switch {
		case now != nil:
			kept = append(kept, CarryChange(was, now, item))
		case was == nil: // not of the cluster: the manifest is ahead
			kept = append(kept, item)
		}
	}
	for _, item := range after.Content {
		name := tree.StrAt(item, key)
		if was, _ := tree.Find(before, key, name); was != nil {
			continue
		}
		if have, _ := tree.Find(into, key, name); have == nil {
			kept = append(kept, tree.FromValue(tree.Value(item)))
		}
	}
	into.Content = kept
	return into
}

// keyOf is the field that every item of all lists has, and no two the same of.
func keyOf(lists ...*tree.Node) string {
	for _, key := range keyed {
		if allHave(key, lists) {
			return key
		}
	}
	return ""
}

func allHave(key string, lists []*tree.Node) bool {
	for _, list := range lists {
		seen := map[string]bool{}
		for _, item := range tree.Items(list) {
			v := tree.StrAt(item, key)
			if v == "" || seen[v] {
				return false
			}
			seen[v] = true
		}
	}
	return true
}

// settleFields makes into, which lies over the manifest, the change that leads from before to
// after as far as it says something of what changes. What it has taken is in after as
// it was before: nothing below has to say it, too.
func settleFields(before, after, into *tree.Node) {
	switch {
	case tree.IsMap(before) && tree.IsMap(after) && tree.IsMap(into):
		tree.Each(into, func(key, have *tree.Node) {
			was, now := tree.Get(before, key.Value), tree.Get(after, key.Value)
			switch {
			case was == nil || now == nil || tree.Equal(was, now):
			case tree.IsScalar(was) && tree.IsScalar(now) && tree.IsScalar(have):
				tree.Set(into, key.Value, remarked(have, tree.Clone(now)))
				tree.Set(after, key.Value, tree.Clone(was))
			default:
				settleFields(was, now, have)
			}
		})
	case tree.IsSeq(before) && tree.IsSeq(after) && tree.IsSeq(into):
		settleList(before, after, into)
	}
}

// settleList follows items by their key; where they have none, the list is one value.
func settleList(before, after, into *tree.Node) {
	key := keyOf(before, after, into)
	if key == "" {
		into.Content = tree.Clone(after).Content
		after.Content = tree.Clone(before).Content
		return
	}
	for _, item := range into.Content {
		name := tree.StrAt(item, key)
		was, _ := tree.Find(before, key, name)
		now, _ := tree.Find(after, key, name)
		settleFields(was, now, item)
	}
}
