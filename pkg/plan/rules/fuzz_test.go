package rules

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// FuzzPartition: no partition is less than none or more than all.
func FuzzPartition(f *testing.F) {
	for _, text := range []string{"0", "-1", "2147483647", "50%", "101%", "-5%", "%", "1e9%", "NaN%", "0.1%", "９%", "99999999999999999999"} {
		f.Add(text, 10)
	}
	f.Fuzz(func(t *testing.T, text string, total int) {
		total = min(max(total, 0), 1<<31-1)
		for _, p := range []intstr.IntOrString{intstr.Parse(text), intstr.FromString(text)} {
			if n := Partition(&p, total); n < 0 || n > total {
				t.Errorf("%q of %d is %d", text, total, n)
			}
			if n := DaemonSetPartition(&p, total); n < 0 {
				t.Errorf("%q of %d is %d", text, total, n)
			}
		}
	})
}
