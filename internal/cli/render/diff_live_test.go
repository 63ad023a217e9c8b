package render

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/exec"
)

// TestMasking_HidesWhatIsSecretAndShowsThatItDiffers: the program that compares meets no value of a Secret, wherever
// it is in an object, and one that changes still differs.
func TestMasking_HidesWhatIsSecretAndShowsThatItDiffers(t *testing.T) {
	before, after := t.TempDir(), t.TempDir()
	const distribution = "kind: ResourceDistribution\nspec:\n  resource:\n    kind: Secret\n    data: {a: emVicmE=, same: emVicmEx}\n"
	for file, text := range map[string]string{
		before + "/rd": distribution, after + "/rd": strings.Replace(distribution, "emVicmE=", "emVicmEy", 1),
		before + "/gone":  "kind: Secret\nmetadata:\n  annotations: {kubectl.kubernetes.io/last-applied-configuration: zebra}\ndata: {a: '***'}\n",
		before + "/plain": "kind: ConfigMap # as it is\ndata: {a: open}\n", after + "/plain": "kind: ConfigMap # as it is\ndata: {a: opened}\n",
		after + "/made": "env:\n- {name: DB_PASSWORD, value: zebra}\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := (masking{exec.New()}).Command("true", "-u", before, after).Run(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"0/rd":    "kind: ResourceDistribution\nspec:\n  resource:\n    data:\n      a: '*** (before)'\n      same: '***'\n    kind: Secret\n",
		"1/rd":    "kind: ResourceDistribution\nspec:\n  resource:\n    data:\n      a: '*** (after)'\n      same: '***'\n    kind: Secret\n",
		"0/gone":  "data:\n  a: '***'\nkind: Secret\nmetadata:\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '***'\n",
		"0/plain": "kind: ConfigMap # as it is\ndata: {a: open}\n", "1/plain": "kind: ConfigMap # as it is\ndata: {a: opened}\n",
		"1/made": "env:\n- name: DB_PASSWORD\n  value: '***'\n",
	}
	got := map[string]string{}
	for i, dir := range []string{before, after} {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			got[string(rune('0'+i))+"/"+f.Name()] = string(text)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestMasking_RunsNothingOnWhatItCannotRead: files that cannot be masked are not compared.
func TestMasking_RunsNothingOnWhatItCannotRead(t *testing.T) {
	before, after := t.TempDir(), t.TempDir()
	if err := os.WriteFile(before+"/a", []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (masking{exec.New()}).Command("true", before, after).Run(); err == nil {
		t.Error("a file that is no object was compared")
	}
}
