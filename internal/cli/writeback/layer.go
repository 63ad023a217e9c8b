package writeback

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"

// settle makes into, which lies over the manifest, the change that leads from before to
// after as far as it says something of what changes. What it has taken is in after as
// it was before: nothing below has to say it, too.
func settle(before, after, into *tree.Node) {
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
				settle(was, now, have)
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
		settle(was, now, item)
	}
}
