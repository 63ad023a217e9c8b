package reference

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// man is a page in the language of man, section 1.
func man(c *cobra.Command) string {
	var b strings.Builder
	b.WriteString(".\\\" Generated from the command tree.\n")
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"kubectl-kruise\" \"User Commands\"\n", roff("KUBECTL-KRUISE-"+strings.ToUpper(c.Name())))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff("kubectl-kruise-"+c.Name()), roff(c.Short))
	for i, c := range all(c) {
		if i == 0 {
			b.WriteString(".SH SYNOPSIS\n")
		} else {
			fmt.Fprintf(&b, ".SH %s\n%s\n.PP\n", roff(strings.ToUpper(name(c))), roff(c.Short))
		}
		fmt.Fprintf(&b, ".B %s\n", roff(line(c)))
		body(&b, "DESCRIPTION", c.Long)
		body(&b, "EXAMPLES", c.Example)
		if f := flags(c); len(f) > 0 {
			b.WriteString(".SS OPTIONS\n")
			for _, f := range f {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(called(f)), roff(f.Usage))
			}
		}
	}
	b.WriteString(".SH SEE ALSO\n.BR kubectl (1)\n")
	return b.String()
}

// body keeps lines as they are.
func body(b *strings.Builder, title, text string) {
	if text = strings.Trim(text, "\n"); text != "" {
		fmt.Fprintf(b, ".SS %s\n.nf\n%s\n.fi\n", title, roff(text))
	}
}

// roff writes text so that man shows it as it is: no line of it is a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
