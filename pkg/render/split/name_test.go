package split

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

func TestName(t *testing.T) {
	long := strings.Repeat("n", 60)
	dotted := "a." + strings.Repeat("n", 240)
	tests := []struct {
		name, kind, owner, subset string
		// same names are OWNER-SUBSET.
		same  bool
		limit int
	}{
		{"short", "StatefulSet", "web", "a", true, 52},
		{"at the limit", "StatefulSet", strings.Repeat("n", 50), "a", true, 52},
		{"beyond the limit", "StatefulSet", strings.Repeat("n", 51), "a", false, 52},
		{"cut behind a dash", "StatefulSet", strings.Repeat("n", 42) + "-" + strings.Repeat("m", 15), "a", false, 52},
		{"dots in a host name", "StatefulSet", "a.b", "c", false, 52},
		{"dots elsewhere", "CloneSet", "a.b", "c", true, 52},
		{"deployment", "Deployment", long, long, true, 242},
		{"long deployment", "Deployment", dotted, long, false, 242},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var f form
			for _, g := range forms {
				if g.kind == tc.kind {
					f = g
				}
			}
			got := f.name(tc.owner, tc.subset)
			if (got == tc.owner+"-"+tc.subset) != tc.same || len(got) > tc.limit {
				t.Errorf("%s (%d characters)", got, len(got))
			}
			valid := validation.IsDNS1123Subdomain
			if f.hostnames {
				valid = validation.IsDNS1123Label
			}
			if msgs := valid(got); len(msgs) > 0 {
				t.Errorf("%s: %v", got, msgs)
			}
			if again := f.name(tc.owner, tc.subset); again != got {
				t.Errorf("%s, then %s", got, again)
			}
		})
	}
}

// TestName_ShorteningKeepsNamesApart: shortening keeps apart what is apart.
func TestName_ShorteningKeepsNamesApart(t *testing.T) {
	f := forms[0]
	long := strings.Repeat("n", 60)
	seen := map[string]string{}
	for _, pair := range [][2]string{{long, "a"}, {long, "b"}, {long + "-a", "b"}, {long, "a-b"}, {"a.b", "c"}, {"a-b", "c"}, {"a", "b-c.d"}} {
		name := f.name(pair[0], pair[1])
		if other, twice := seen[name]; twice {
			t.Errorf("%v is called like %s: %s", pair, other, name)
		}
		seen[name] = pair[0] + " " + pair[1]
	}
}
