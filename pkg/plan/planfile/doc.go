// Package planfile is the written form of plans and of policies: YAML that people
// review, keep in Git and edit. Reading is strict, so that a typing error is found
// before a rollout and not during it; writing is stable to the byte.
//
// It knows no files: callers hand in what they have read. Faults are [*tree.Error]
// with field, line and hint.
package planfile
