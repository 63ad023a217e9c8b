package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func TestAmount_OfTotal(t *testing.T) {
	for _, c := range []struct {
		text  string
		total int
		want  int
	}{
		{"1", 10, 1},
		{"3", 2, 2},
		{"1", 0, 0},
		{"10%", 10, 1},
		{"10%", 5, 1},
		{"10%", 11, 2},
		{"1%", 10000, 100},
		{"99%", 5, 4},
		{"99%", 1, 1},
		{"50%", 1, 1},
		{"50%", 2, 1},
		{"50%", 3, 2},
		{"100%", 7, 7},
		{"12.5%", 8, 1},
		{"0.1%", 3, 1},
	} {
		a, err := ParseAmount(c.text)
		if err != nil || a.Of(c.total) != c.want || a.String() != c.text {
			t.Errorf("%s of %d: %d, want %d (%s, %v)", c.text, c.total, a.Of(c.total), c.want, a, err)
		}
	}
}

func TestParseAmount_RefusesInvalidText(t *testing.T) {
	for _, text := range []string{"", "0", "-1", "0%", "101%", "ten", "1.5", "NaN%", "%", "1e3", "99999999999", "10 %"} {
		_, err := ParseAmount(text)
		var e *tree.Error
		if !errors.As(err, &e) || e.Hint == "" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseSteps_ReadsAndRefuses(t *testing.T) {
	got, err := ParseSteps("1, 10%,50%,100%")
	want := []PolicyStep{{To: Pods(1)}, {To: Amount{10, true}}, {To: Amount{50, true}}, {To: All}}
	if diff := gocmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for text, msg := range map[string]string{
		"":         `"" is not a number of pods`,
		"1,,2":     `"" is not a number of pods`,
		"5,3":      `step "3" is not larger than the one before`,
		"50%,50%":  `step "50%" is not larger than the one before`,
		"10%,5,9%": `step "9%" is not larger than the one before`,
	} {
		_, err := ParseSteps(text)
		var e *tree.Error
		if !errors.As(err, &e) || e.Error() != msg || e.Hint == "" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestPauseAfter_FindsTheStep(t *testing.T) {
	for text, want := range map[string]string{
		"1":         "[hand - - -]",
		"1,10%":     "[hand hand - -]",
		"2,3=10m":   "[- hand 10m0s -]",
		"50.0%":     "[- - hand -]",
		"10%=30s":   "[- 30s - -]",
		"all":       "[hand hand hand -]",
		"all=1m":    "[1m0s 1m0s 1m0s -]",
		"all=1m, 1": "[hand 1m0s 1m0s -]",
		"100%":      "[- - - hand]",
		"4":         "[- - - hand]",
	} {
		p := Policy{Steps: must(ParseSteps("1,10%,50%,100%"))}
		if err := p.PauseAfter(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		var got []string
		for _, s := range p.Steps {
			switch {
			case s.Pause == nil:
				got = append(got, "-")
			case s.Pause.For == 0:
				got = append(got, "hand")
			default:
				got = append(got, s.Pause.For.String())
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
	for text, hint := range map[string]string{"9": "name a stop", "20%": "name a stop", "0": "name a stop", "1.5": "name a stop", "1=soon": "write it as", "1=-3s": "write it as", "": "name a stop"} {
		p := Policy{Steps: must(ParseSteps("1,10%"))}
		err := p.PauseAfter(text)
		var e *tree.Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.Hint, hint) {
			t.Errorf("%q: %v", text, err)
		}
		if hint == "name a stop" && !strings.HasSuffix(e.Msg, "they stop at 1, 10%") {
			t.Errorf("%q lists no stops: %v", text, err)
		}
	}
}

// TestPauseAfter_DropsNoPause: every value of the flag is a pause of its own, at the stop that it
// names; an index is told apart from a stop by a warning.
func TestPauseAfter_DropsNoPause(t *testing.T) {
	for _, c := range []struct{ steps, after, want, warned string }{
		{"1,3,100%", "1,3", "[1 3]", ""},
		{"2,3,100%", "2", "[2]", ""},
		{"1,3,100%", "1,2", "[1 3]", "--pause-after 2: no step stops at 2 pods, so it is taken for step 2, which stops at 3"},
		{"5,10,100%", "1,10", "[5 10]", "--pause-after 1: no step stops at 1 pod, so it is taken for step 1, which stops at 5"},
	} {
		p := Policy{Steps: must(ParseSteps(c.steps))}
		if err := p.PauseAfter(c.after); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		var got []string
		for _, s := range p.Steps {
			if s.Pause != nil {
				got = append(got, s.To.String())
			}
		}
		if fmt.Sprint(got) != c.want || strings.Join(p.Warnings, "\n") != c.warned {
			t.Errorf("%+v: pauses %v, warnings %q", c, got, p.Warnings)
		}
	}
}

func TestParsePolicyWords_NameTheChoices(t *testing.T) {
	if d, err := ParseDriver("client"); d != DriverClient || err != nil {
		t.Error(d, err)
	}
	if d, err := ParseDriver("auto"); d != "" || err != nil {
		t.Error(d, err)
	}
	if f, err := ParseOnFailure(""); f != "" || err != nil {
		t.Error(f, err)
	}
	for _, err := range []error{
		second(ParseDriver("me")), second(ParseOnFailure("cry")), second(ParseDrain("all")), second(ParsePull("up")),
	} {
		var e *tree.Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.Hint, "write one of: ") {
			t.Error(err)
		}
	}
}

func TestDefaultSteps_GrowWithTheWorkload(t *testing.T) {
	for total, want := range map[int]string{
		0: "[1 100%]", 1: "[1 100%]", 4: "[1 100%]", 5: "[1 50% 100%]", 20: "[1 50% 100%]", 21: "[1 10% 50% 100%]", 5000: "[1 10% 50% 100%]",
	} {
		var got []string
		for _, s := range DefaultSteps(total) {
			got = append(got, s.To.String())
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%d pods: %v, want %s", total, got, want)
		}
	}
}

func TestResolveStages_SkipsWhatIsReached(t *testing.T) {
	for _, c := range []struct {
		steps          string
		total, already int
		want           string
	}{
		{"1,10%,50%,100%", 10, 0, "[1 5 10]"},
		{"1,10%,50%,100%", 1, 0, "[1]"},
		{"1,10%,50%,100%", 100, 0, "[1 10 50 100]"},
		{"1,50%,100%", 10, 5, "[10]"},
		{"1,50%,100%", 10, 3, "[5 10]"},
		{"1,50%,100%", 10, 10, "[10]"},
		{"50%", 10, 5, "[]"},
		{"50%", 10, 0, "[5]"},
		{"100%", 0, 0, "[0]"},
		{"3,100%", 2, 0, "[2]"},
	} {
		var got []int
		for _, r := range resolveStages(must(ParseSteps(c.steps)), c.total, c.already) {
			got = append(got, r.updated)
		}
		if text := strings.ReplaceAll(fmt.Sprint(got), "<nil>", ""); text != c.want {
			t.Errorf("%s of %d, %d already: %s, want %s", c.steps, c.total, c.already, text, c.want)
		}
	}
}

// TestResolveStages_KeepPausesAndChecks: a step that comes to nothing new gives its pause
// and its questions to the one before.
func TestResolveStages_KeepPausesAndChecks(t *testing.T) {
	steps := must(ParseSteps("1,10%,100%"))
	steps[0].Verify = []Verify{{URL: "a"}}
	steps[1].Verify, steps[1].Pause = []Verify{{URL: "b"}}, &Pause{For: Duration(time.Minute)}
	got := resolveStages(steps, 5, 0)
	if len(got) != 2 || len(got[0].Verify) != 2 || got[0].Pause == nil {
		t.Errorf("%+v", got)
	}
	if len(steps[0].Verify) != 1 {
		t.Error("the policy itself was changed")
	}
}

func second[T any](_ T, err error) error { return err }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
