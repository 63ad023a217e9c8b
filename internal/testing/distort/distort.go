// Package distort changes one piece of a text for fuzz targets. What is fuzzed is where, and by
// what: numbers, which the fuzzer need not make smaller one by one, as it does with a text
// for up to a minute whenever it meets something new.
package distort

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// odd are what a piece of a manifest is replaced with.
var odd = []string{
	"", "null", "[]", "{}", "[null]", "[{}]", "[[a]]", "[a]", "{a: b}", "{'': b}", "text", "''", "-1", "0", "2147483648",
	"99999999999999999999", "1e99", "true", "'%'", "'101%'", "'-5%'", "'${A}'", "'*'", "'TZ='", "'CRON_TZ=UTC'", "'@every'", "'5-3'",
	"&a x", "*a", "<<", "!!binary x", "|\n", "? ", "\t", "\r\n", "\n---\n", "\n...\n", "\u2028", "\x00", "\xff", "%", "#", ":", "\"", "'",
	"{", "]", ",", "..", "/", "2006-01-02T15:04:05Z", "1h", "-1h", "1Ki", "a=b,c", "$(A)", "`a`", "${{a}}",
}

// Change is what is changed: piece At, modulo how many there are, becomes number By of the odd
// texts, or where By is larger another piece. Unchanged changes nothing.
type Change struct {
	At uint16
	By uint8
}

// Unchanged is the By of no change.
const Unchanged = 255

// Fuzz fuzzes texts that were changed in two places: these, and those in
// testdata/found/FUZZTARGET, which once made it fail.
func Fuzz(f *testing.F, texts []string, run func(t *testing.T, text string)) {
	f.Helper()
	found, err := filepath.Glob(filepath.Join("testdata", "found", f.Name(), "*"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	for i := range max(16, len(texts)) {
		f.Add(uint16(i), uint16(0), uint8(Unchanged), uint16(0), uint8(Unchanged))
		f.Add(uint16(i), uint16(i*37), uint8(i*5), uint16(i*53), uint8(Unchanged))
	}
	var once sync.Once
	f.Fuzz(func(t *testing.T, which, at uint16, by uint8, also uint16, and uint8) {
		if *tries > 0 {
			once.Do(func() {
				atRandom(t, func(r *rand.Rand) (input any, try func()) {
					text := Text(texts[r.IntN(len(texts))], Change{uint16(r.Uint32()), uint8(r.Uint32())}, Change{uint16(r.Uint32()), uint8(r.Uint32())})
					return text, func() { run(t, text) }
				})
			})
			return
		}
		run(t, Text(texts[int(which)%len(texts)], Change{at, by}, Change{also, and}))
	})
}

// Text changes a text in order. A piece is a word, a sign, a quoted text, or what is below
// a key in lines of YAML.
func Text(text string, changes ...Change) string {
	for _, c := range changes {
		all := pieces(text)
		if c.By == Unchanged || len(all) == 0 {
			continue
		}
		at := all[int(c.At)%len(all)]
		var by string
		if int(c.By) < len(odd) {
			by = odd[c.By]
		} else {
			other := all[(int(c.At)+int(c.By))%len(all)]
			by = text[other[0]:other[1]]
		}
		if strings.HasSuffix(text[:at[0]], ":") {
			by = " " + by
		}
		text = text[:at[0]] + by + text[at[1]:]
	}
	return text
}

var (
	word = regexp.MustCompile(`"[^"\n]*"|'[^'\n]*'|[A-Za-z0-9_./%$+~@-]+|[^ \n]|\n+`)
	key  = regexp.MustCompile(`(?m)^([ -]*)[^ :{\n]+:`)
)

// pieces are where the pieces of a text begin and end.
func pieces(text string) [][]int {
	out := word.FindAllStringIndex(text, -1)
	for _, k := range key.FindAllStringSubmatchIndex(text, -1) {
		end := k[1]
		for first := true; end < len(text); first = false {
			line, _, _ := strings.Cut(text[end:], "\n")
			if indent := len(line) - len(strings.TrimLeft(line, " -")); !first && line != "" && indent <= k[3]-k[2] {
				break
			}
			end = min(end+len(line)+1, len(text))
		}
		if end--; end > k[1] {
			out = append(out, []int{k[1], end})
		}
	}
	return out
}
