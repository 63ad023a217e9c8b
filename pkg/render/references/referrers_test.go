package references

import "testing"

func TestReferrers_PathsLeadBelowSpec(t *testing.T) {
	for _, fields := range referrers {
		for _, ref := range fields {
			if len(ref.path) < 2 || ref.path[0] != "spec" {
				t.Errorf("path %v leads to no mapping below spec", ref.path)
			}
		}
	}
}
