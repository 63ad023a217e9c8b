package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// module is the path of the product's module. Those of the suites begin with it.
const module = "github.com/kubectl-kruise/kubectl-kruise/"

// many is how many seconds of the processor a package takes that has a row in the table.
const many = 10

// row is a line of the table: a package, its seconds of the processor and on the clock,
// and what it proves.
type row struct {
	pkg             string
	processor, wall int
	proves          string
}

// line is a row of the table as it is written.
var line = regexp.MustCompile("^\\| `([^`]+)` \\| *(\\d*) \\| *(\\d*) \\| (.*) \\|$")

// update writes the seconds of packages into the table of a page. The seconds of a package
// that did not run, failed, or whose result comes from the cache stay as they are.
func update(page string, list []took) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	written, missing := fill(string(text), list)
	if written == "" {
		return fmt.Errorf("%s: no line of it is a row of a table of packages", page)
	}
	if err := os.WriteFile(page, []byte(written), 0o600); err != nil { //nolint:gosec // the page that the caller names
		return err
	}
	if len(missing) > 0 {
		return errors.New(filepath.Base(page) + " has no row for " + strings.Join(missing, ", ") + "\nhint: add rows that say what these packages prove")
	}
	return nil
}

// fill is a page with the seconds in the rows of its table, the most expensive package
// first, and the expensive packages that have no row. The page is empty if it has no table.
func fill(page string, list []took) (written string, missing []string) {
	lines := strings.Split(page, "\n")
	first := slices.IndexFunc(lines, line.MatchString)
	if first < 0 {
		return "", nil
	}
	var rows []row
	for _, l := range lines[first:] {
		m := line.FindStringSubmatch(l)
		if m == nil {
			break
		}
		rows = append(rows, row{pkg: m[1], processor: number(m[2]), wall: number(m[3]), proves: m[4]})
	}
	behind := lines[first+len(rows):]
	for _, t := range list {
		if t.outcome != "pass" {
			continue
		}
		name := strings.TrimPrefix(t.pkg, module)
		i := slices.IndexFunc(rows, func(r row) bool { return r.pkg == name })
		switch {
		case i >= 0:
			rows[i].wall = int(t.wall + 0.5)
			if t.processor > 0 { // or it is not known
				rows[i].processor = int(t.processor + 0.5)
			}
		case t.processor >= many:
			missing = append(missing, name)
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.processor, a.processor) })
	lines = slices.Clone(lines[:first])
	for _, r := range rows {
		lines = append(lines, fmt.Sprintf("| `%s` | %s | %s | %s |", r.pkg, digits(r.processor), digits(r.wall), r.proves))
	}
	return strings.Join(append(lines, behind...), "\n"), missing
}

// digits writes a number; zero, which is not known, is no digit.
func digits(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// number reads digits; no digit is zero.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
