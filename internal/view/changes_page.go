package view

import (
	"encoding/json"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
)

// ChangesPage is all that a reader is shown of what differs between two states.
type ChangesPage struct {
	// Summary is a line, Objects how many there were, and are.
	Summary string
	Objects [2]int
	// Levels are those that occur, the worst first.
	Levels []LevelCount
	Items  []ChangeItem
	// Document is what -o json prints.
	Document any
}

// LevelCount is how many changes have a level, and what the level means.
type LevelCount struct {
	Level   compare.Level
	Count   int
	Meaning string
}

// ChangeItem is one object that changes, in words; what does not apply is empty.
type ChangeItem struct {
	Level compare.Level
	Verb  compare.Verb
	// Object is KIND NAMESPACE/NAME, Was its old name, Place the file and the line.
	Object, Was, Place string
	// Pods is what pods go through, Because the fields that cause it.
	Pods, Because string
	Subsets       []SubsetItem
	Reach, Copies string
	Effects       []compare.Effect
	Fields        []FieldItem
}

// SubsetItem is what happens to a subset, and why, where the one before does not have the same reason.
type SubsetItem struct{ Text, Because string }

// FieldItem is a field that differs: both values as YAML, without a line break at their end.
type FieldItem struct {
	Path, Effect   string
	HasOld, HasNew bool
	Old, New       string
	// Causes reports that the field is one of those that decide what pods go through.
	Causes bool
}

// levelMeanings say what each level is about.
var levelMeanings = map[compare.Level]string{
	compare.Loss: "data or service is lost", compare.Refused: "the API server or Kruise refuses it", compare.Recreate: "pods are deleted and recreated",
	compare.Blocked: "something intended does not happen", compare.Warning: "probably not intended", compare.Restart: "containers restart inside their pods",
	compare.Note: "no effect on running pods",
}

// Page puts the changes into words for readers.
func (c Changes) Page() ChangesPage {
	page := ChangesPage{Summary: c.Summary(), Objects: c.Objects, Document: c.document()}
	counts := c.tally().levels
	for _, level := range compare.Levels() {
		if counts[level] > 0 {
			page.Levels = append(page.Levels, LevelCount{level, counts[level], levelMeanings[level]})
		}
	}
	for i := range c.Changes {
		ch := &c.Changes[i]
		item := changeItem(ch)
		causes := causesOf(ch.Rollout)
		for _, s := range ch.Subsets {
			causes = append(causes, causesOf(s.Rollout)...)
		}
		for _, f := range ch.Fields {
			item.Fields = append(item.Fields, FieldItem{
				Path: f.Path, Effect: strings.Trim(effectText(f, ch.Rollout), " ()"),
				HasOld: f.Old != nil, HasNew: f.New != nil, Old: YAMLText(f.Old), New: YAMLText(f.New), Causes: slices.Contains(causes, f.Path),
			})
		}
		page.Items = append(page.Items, item)
	}
	return page
}

// changeItem is what happens to one object, without its fields.
func changeItem(ch *compare.Change) ChangeItem {
	at := ch.New
	if ch.Verb == compare.Removed {
		at = ch.Old
	}
	item := ChangeItem{
		Level: ch.Level, Verb: ch.Verb, Object: ch.ID.String(), Was: ch.Was, Place: origin(at),
		Pods: podsText(ch.Rollout), Because: becauseText(ch.Rollout), Reach: reachText(ch.Reach), Copies: copiesText(ch.Copies),
	}
	said := ""
	for _, s := range ch.Subsets {
		sub := SubsetItem{Text: subsetText(s)}
		if text := becauseText(s.Rollout); text != said && text != "" {
			sub.Because, said = text, text
		}
		item.Subsets = append(item.Subsets, sub)
	}
	for _, e := range ch.Effects {
		e.Text, e.Field = strings.TrimPrefix(e.Field+": "+e.Text, ": "), ""
		item.Effects = append(item.Effects, e)
	}
	return item
}

func causesOf(r *compare.Rollout) []string {
	if r == nil {
		return nil
	}
	return r.Because
}

// YAMLText is a value as people write it in a manifest; "" for none.
func YAMLText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if v != "" {
			return strings.TrimRight(v, "\n")
		}
	}
	b, err := yaml.Marshal(v)
	if err != nil {
		b, _ = json.Marshal(v) // decoded JSON always encodes
	}
	return strings.TrimRight(string(b), "\n")
}
