package inject

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func TestExpression(t *testing.T) {
	for _, tt := range []struct{ text, name, value, want string }{
		{"cpu", "cpu", "250m", "250m"},
		{"CPU*2", "cpu", "1", "2"},
		{"cpu*50%", "cpu", "1300m", "650m"},
		{"50%*cpu", "cpu", "1300m", "650m"},
		{"cpu/3", "cpu", "1", "333m"},
		{"-(-cpu) / 4", "cpu", "250m", "62m"},
		{"10-4-3", "cpu", "1", "3"},
		{"8/4/2", "cpu", "1", "1"},
		{"2+3*4", "cpu", "1", "14"},
		{"(2+3)*4", "cpu", "1", "20"},
		{"cpu + 0.1", "cpu", "1", "1100m"},
		{"1e3", "memory", "1", "1k"},
		{".5", "cpu", "1", "500m"},
		{"memory*33%", "memory", "1Gi", "354334801920m"},
		{"memory*25%", "memory", "1536Mi", "384Mi"},
		{"memory + 16Mi", "memory", "128Mi", "144Mi"},
		{"min(memory, 2)", "memory", "1Gi", "2"},
		{"max(min(CPU*2, 1500m), 0.1)", "cpu", "1", "1500m"},
		{"min(MEMORY/4 + 16Mi, max(memory*1e-1, 64Mi))", "memory", "512Mi", "64Mi"},
		{"max(1, 2)", "cpu", "7", "2"},
		{"min(1, 2)", "cpu", "7", "1"},
		{"max(1 - 1, -2)", "cpu", "7", "0"},
		// An invalid suffix makes the number 0.
		{"100mi", "memory", "1Gi", "0"},
		{"2cpu", "cpu", "1", "0"},
		{"1Ei + memory", "memory", "1Gi", "1Gi"},
		// A number is cut to thousandths when it becomes a quantity.
		{"cpu + 0.0009", "cpu", "1", "1"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			e, err := ParseExpression(tt.text, tt.name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.Evaluate(resource.MustParse(tt.value))
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != tt.want {
				t.Errorf("%s of %s is %s, want %s", tt.text, tt.value, got.String(), tt.want)
			}
		})
	}
}

func TestExpression_RefusesInvalidText(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "ends too early"},
		{"cpu * (2", "ends too early"},
		{"cpu 1", `unexpected "1"`},
		{"cpu)", `unexpected ")"`},
		{"cpu $ 2", "column 5"},
		{"memory", `unknown name "memory"`},
		{"max(cpu)", `unexpected ")"`},
		{"max(1,2,3)", `unexpected ","`},
		{"cpu - 500m", "negative: -400m"},
		{"cpu*cpu", "multiplied by a quantity"},
		{"2/cpu", "divided by a quantity"},
		{"cpu/100m", "divided by a quantity"},
		{"cpu/0", "division by zero"},
		{"1e300*1e300", "out of range"},
		{"cpu*1e30", "out of range"},
		{strings.Repeat("(", 1000), "deeper than"},
		{strings.Repeat("-", 1000) + "1", "deeper than"},
	} {
		t.Run(tt.text[:min(len(tt.text), 20)], func(t *testing.T) {
			e, err := ParseExpression(tt.text, "cpu")
			if err == nil {
				_, err = e.Evaluate(resource.MustParse("100m"))
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// TestExpression_CheckEqualsTheWebhook is what Kruise's validation makes of an expression.
func TestExpression_CheckEqualsTheWebhook(t *testing.T) {
	for text, want := range map[string]bool{
		"memory*50%-100Mi": false,
		"memory*memory":    true,
		"memory+100Mi":     true,
		"memory-2":         false,
		"1/memory":         true,
	} {
		e, err := ParseExpression(text, "memory")
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Check(); (err == nil) != want {
			t.Errorf("%s: %v, want accepted %v", text, err, want)
		}
	}
}

func FuzzExpression(f *testing.F) {
	for _, seed := range []string{"cpu*50%", "max(min(cpu,1),-2Ki)", "((1e3m", "-cpu/0", "1Ei%"} {
		f.Add(seed, "250m")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		if len(text)+len(value) > 64 {
			return
		}
		e, err := ParseExpression(text, "cpu")
		if err != nil {
			return
		}
		_ = e.Check()
		q, err := tree.Quantity(value)
		if err != nil {
			return
		}
		if got, err := e.Evaluate(q); err == nil && got.Sign() < 0 {
			t.Errorf("%q of %s is negative: %s", text, value, got.String())
		}
	})
}
