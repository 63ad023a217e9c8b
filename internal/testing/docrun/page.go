// Package docrun runs what Markdown pages show: each block of commands is carried out
// in the order of the page, and what a block shows as output is compared with what
// came out.
//
// A block of the kind console has commands after "$ " and below each the lines that it
// prints, on both streams; a line "…" stands for any lines, "…" within a line for any
// text. A block of the kind sh is a script that must end well. Comments in the page,
// which readers do not see, say the rest:
//
//	<!-- run on: files -->       where the page is run: in the examples, in front of a
//	                             cluster ("cluster, namespace shop"), or by kustomize's
//	                             own test ("kustomize")
//	<!-- before: SCRIPT -->      what makes the ground for the blocks below
//	<!-- exits 1 -->             the commands of the next block end so (in a script: or well)
//	<!-- until: TEXT -->         the next block, a script, goes on for ever: it is
//	                             interrupted when it has printed this
//	<!-- needs: PROGRAM -->      the next block is run where there is this program
//	<!-- not run: REASON -->     why the next block is left out
package docrun

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// Kind describes what a block is.
type Kind string

// On and Before are comments, the others are what stands behind the fence.
const (
	On      Kind = "run on"
	Before  Kind = "before"
	Console Kind = "console"
	Script  Kind = "sh"
)

// Block is a part of a page that can be run.
type Block struct {
	Kind Kind
	// Line is that of the fence or of the comment, from 1.
	Line int
	// Text is the script of Before and Script, and where On says that the page is run.
	Text string
	// Commands are those of a Console.
	Commands []Command
	// Exit is what the commands of a Console end with, and those of a Script may.
	Exit int
	// Until is what a Script prints before it is interrupted, "" if it ends by itself.
	Until string
	// Needs is a program without which the block is left out, "" if it is always run.
	Needs string
	// Left is why the block is not run, "" if it is.
	Left string
}

// Command is a command and what the page says that it prints.
type Command struct {
	Text string
	// Shown are the lines from line From to before line To, from 1.
	Shown    []string
	From, To int
}

var directive = regexp.MustCompile(`(?s)^<!--\s*(run on|before|not run|exits|until|needs)\b:?\s*(.*?)\s*-->$`)

// read finds the blocks of a page.
func read(path string) ([]Block, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	blocks, err := parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return blocks, nil
}

// parse finds the blocks of a text.
func parse(text string) ([]Block, error) {
	p := parser{lines: strings.Split(text, "\n")}
	for p.at < len(p.lines) {
		line := strings.TrimSpace(p.lines[p.at])
		switch {
		case strings.HasPrefix(line, "```"):
			p.fence(strings.TrimSpace(strings.TrimPrefix(line, "```")))
		case strings.HasPrefix(line, "<!--"):
			p.comment()
		}
		p.at++
		if p.err != nil {
			return nil, p.err
		}
	}
	return p.out, nil
}

type parser struct {
	lines []string
	at    int
	// next is what comments said of the next block.
	next Block
	out  []Block
	err  error
}

// comment reads a comment to its end.
func (p *parser) comment() {
	from := p.at
	for !strings.Contains(p.lines[p.at], "-->") && p.at < len(p.lines)-1 {
		p.at++
	}
	m := directive.FindStringSubmatch(strings.TrimSpace(strings.Join(p.lines[from:p.at+1], "\n")))
	if m == nil {
		return // not one of these
	}
	switch m[1] {
	case "run on", "before":
		p.out = append(p.out, Block{Kind: Kind(m[1]), Line: from + 1, Text: m[2]})
	case "not run":
		p.next.Left = m[2]
	case "until":
		p.next.Until = m[2]
	case "needs":
		p.next.Needs = m[2]
	case "exits":
		if p.next.Exit, p.err = strconv.Atoi(m[2]); p.err != nil {
			p.err = fmt.Errorf("line %d: %w", from+1, p.err)
		}
	}
}

// fence reads a block to its end.
func (p *parser) fence(kind string) {
	b := p.next
	b.Kind, b.Line = Kind(kind), p.at+1
	p.next = Block{}
	p.at++
	from := p.at
	for p.at < len(p.lines) && !strings.HasPrefix(strings.TrimSpace(p.lines[p.at]), "```") {
		p.at++
	}
	if p.at == len(p.lines) {
		p.err = fmt.Errorf("line %d: a block without an end", b.Line)
		return
	}
	body := p.lines[from:p.at]
	switch b.Kind {
	case Script:
		b.Text = strings.Join(body, "\n")
	case Console:
		b.Commands = commands(body, from+1)
	case On, Before:
	default:
		return
	}
	p.out = append(p.out, b)
}

// commands are those of a console block whose first line is the one given.
func commands(body []string, first int) []Command {
	var out []Command
	for i := 0; i < len(body); i++ {
		text, ok := strings.CutPrefix(body[i], "$ ")
		if !ok {
			if len(out) > 0 {
				last := &out[len(out)-1]
				last.Shown, last.To = append(last.Shown, body[i]), first+i+1
			}
			continue
		}
		for strings.HasSuffix(text, "\\") && i+1 < len(body) {
			i++
			text += "\n" + body[i]
		}
		out = append(out, Command{Text: text, From: first + i + 1, To: first + i + 1})
	}
	return out
}
