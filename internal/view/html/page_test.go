package html_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// element is a start tag of a page.
type element struct {
	name string
	attr map[string]string
}

// parsed is what a browser would find in a page.
type parsed struct {
	elements []element
	// text is what a reader finds, in lines, without style and scripts.
	text string
	// data is the JSON of the page.
	data map[string]any
}

var (
	inlineParts = regexp.MustCompile(`(?s)<(style|script)([^>]*)>(.*?)</(?:style|script)>`)
	void        = []string{"meta", "br", "input"}
	blocks      = []string{"title", "p", "h1", "h2", "h3", "tr", "li", "dd", "pre", "summary", "text", "desc", "a", "button"}
	cells       = []string{"td", "th", "dt"}
	spaces      = regexp.MustCompile(`\s+`)
)

// parse reads a page, and fails the test where an element is not closed by its own end tag.
func parse(t *testing.T, page string) parsed {
	t.Helper()
	var out parsed
	for _, m := range inlineParts.FindAllStringSubmatch(page, -1) {
		if strings.Contains(m[2], "application/json") {
			if err := json.Unmarshal([]byte(m[3]), &out.data); err != nil {
				t.Fatalf("the JSON of the page: %v", err)
			}
		}
	}
	d := xml.NewDecoder(strings.NewReader(inlineParts.ReplaceAllString(page, "<$1$2></$1>")))
	d.Strict, d.Entity = false, xml.HTMLEntity
	var open []string
	var text strings.Builder
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{token.Name.Local, map[string]string{}}
			for _, a := range token.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			out.elements = append(out.elements, e)
			if !slices.Contains(void, e.name) {
				open = append(open, e.name)
			}
		case xml.EndElement:
			if slices.Contains(void, token.Name.Local) { // of <path/> and its like there is one, too
				continue
			}
			if len(open) == 0 || open[len(open)-1] != token.Name.Local {
				t.Fatalf("</%s> closes %v", token.Name.Local, open)
			}
			open = open[:len(open)-1]
			switch {
			case slices.Contains(blocks, token.Name.Local):
				text.WriteByte('\n')
			case slices.Contains(cells, token.Name.Local):
				text.WriteByte(' ')
			}
		case xml.CharData:
			text.WriteString(spaces.ReplaceAllString(string(token), " "))
		case xml.Comment:
			t.Errorf("a comment: %q", token)
		}
	}
	if len(open) > 0 {
		t.Errorf("never closed: %v", open)
	}
	var lines []string
	for line := range strings.Lines(text.String()) {
		if line = strings.TrimSpace(spaces.ReplaceAllString(line, " ")); line != "" {
			lines = append(lines, line)
		}
	}
	out.text = strings.Join(lines, "\n") + "\n"
	return out
}

// TestPages_AreWellFormed: elements are closed, identifiers unique, references lead
// somewhere, headings form an outline, and nothing in the page can run or load.
func TestPages_AreWellFormed(t *testing.T) {
	for name, page := range pages(t) {
		t.Run(name, func(t *testing.T) {
			p := parse(t, page)
			for _, fault := range slices.Concat(references(p), outline(p), inert(p)) {
				t.Error(fault)
			}
			if p.data["kind"] != "Report" || p.data["program"] != "kubectl-kruise v1.2.3" {
				t.Errorf("the JSON is of %v, written by %v", p.data["kind"], p.data["program"])
			}
		})
	}
}

func references(p parsed) (faults []string) {
	ids := map[string]bool{}
	for _, e := range p.elements {
		if id := e.attr["id"]; id != "" {
			if ids[id] {
				faults = append(faults, "identifier twice: "+id)
			}
			ids[id] = true
		}
	}
	for _, e := range p.elements {
		for _, name := range []string{"aria-labelledby", "aria-describedby"} {
			for id := range strings.FieldsSeq(e.attr[name]) {
				if !ids[id] {
					faults = append(faults, fmt.Sprintf("<%s %s=%q> leads nowhere", e.name, name, id))
				}
			}
		}
		if to := e.attr["href"]; e.name == "a" && (!strings.HasPrefix(to, "#") || !ids[to[1:]]) {
			faults = append(faults, "link leads nowhere: "+to)
		}
		named := e.attr["aria-labelledby"] != "" || e.attr["aria-label"] != ""
		if wants := e.name == "section" || e.name == "nav" || e.attr["role"] == "region" || e.attr["role"] == "img"; wants && !named {
			faults = append(faults, fmt.Sprintf("<%s %v> has no name", e.name, e.attr))
		}
	}
	return faults
}

func outline(p parsed) (faults []string) {
	last, top := 0, 0
	for _, e := range p.elements {
		if e.name == "th" && e.attr["scope"] == "" {
			faults = append(faults, "a header of a table without scope")
		}
		level, err := strconv.Atoi(strings.TrimPrefix(e.name, "h"))
		if err != nil || !strings.HasPrefix(e.name, "h") {
			continue
		}
		if level == 1 {
			top++
		}
		if level > last+1 {
			faults = append(faults, fmt.Sprintf("h%d follows h%d", level, last))
		}
		last = level
	}
	if top != 1 {
		faults = append(faults, fmt.Sprintf("%d elements h1", top))
	}
	return faults
}

// inert finds what could run or load in spite of the policy, or would be stopped by it.
func inert(p parsed) (faults []string) {
	scripts := 0
	for _, e := range p.elements {
		if e.name == "script" {
			scripts++
		}
		if slices.Contains([]string{"img", "link", "iframe", "object", "embed", "form", "base", "foreignObject", "image", "use", "video", "audio"}, e.name) {
			faults = append(faults, "an element "+e.name)
		}
		for a := range e.attr {
			if strings.HasPrefix(a, "on") || slices.Contains([]string{"style", "src", "srcset", "action", "srcdoc"}, a) {
				faults = append(faults, fmt.Sprintf("<%s %s=%q>", e.name, a, e.attr[a]))
			}
		}
	}
	if scripts != 2 {
		faults = append(faults, fmt.Sprintf("%d scripts instead of the data and its reader", scripts))
	}
	return faults
}

// TestPolicy_AllowsWhatThePageHolds, to the byte, and nothing else.
func TestPolicy_AllowsWhatThePageHolds(t *testing.T) {
	for name, page := range pages(t) {
		p := parse(t, page)
		policy := ""
		for _, e := range p.elements {
			if e.attr["http-equiv"] == "Content-Security-Policy" {
				policy = e.attr["content"]
			}
		}
		hashes := map[string]string{}
		for _, m := range inlineParts.FindAllStringSubmatch(page, -1) {
			if !strings.Contains(m[2], "json") {
				sum := sha256.Sum256([]byte(m[3]))
				hashes[m[1]] = "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
			}
		}
		want := "default-src 'none'; style-src " + hashes["style"] + "; script-src " + hashes["script"] + "; base-uri 'none'; form-action 'none'"
		if policy != want {
			t.Errorf("%s: the policy is\n%s\nand the page needs\n%s", name, policy, want)
		}
		if before, _, _ := strings.Cut(page, "<meta http-equiv"); strings.Contains(before, "<style") || strings.Contains(before, "<script") {
			t.Errorf("%s: the policy comes after what it is for", name)
		}
	}
}

// TestPages_EscapeHostileText does nothing wherever it comes from.
func TestPages_EscapeHostileText(t *testing.T) {
	hostile := []string{
		`</script><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `<!--<script>`, `]]>`,
		`javascript:alert(1)`, "\u202etxt.exe", "\x1b[31mred", "{{.Script}}", "\u2028line", `</style><style>*{display:none}`, `</title><h1>gotcha</h1>`, "##[error]x", "\x00",
	}
	for _, text := range hostile {
		for name, page := range hostilePages(t, text) {
			p := parse(t, page)
			for _, fault := range slices.Concat(references(p), outline(p), inert(p)) {
				t.Errorf("%s with %q: %s", name, text, fault)
			}
			for _, r := range []string{"\u202e", "\x1b", "\u2028", "##[", "\x00", "<img", "<h1>gotcha"} {
				if strings.Contains(page, r) {
					t.Errorf("%s with %q: the page holds %q", name, text, r)
				}
			}
			if b, _ := json.Marshal(p.data); !bytes.Contains(b, []byte("hostile")) {
				t.Errorf("%s with %q: the text is not in the data", name, text)
			}
			if !strings.Contains(p.text, "hostile") {
				t.Errorf("%s with %q: the text is not shown", name, text)
			}
		}
	}
}
