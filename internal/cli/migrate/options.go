package migrate

import (
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

// complete reads the arguments, in the older form or ours. Errors are of usage.
func (o *options) complete(args []string) error {
	if err := command.OneOf("dry-run", o.dryRun, dryRuns...); err != nil {
		return err
	}
	if len(args) != 1 {
		return command.Usagef("for instance: kubectl kruise migrate deployment/web --to CloneSet", "give one workload, or one kind in the older form")
	}
	if err := o.kruise.Complete(); err != nil {
		return err
	}
	read := o.olderForm
	if strings.Contains(args[0], "/") {
		read = o.ourForm
	}
	if err := read(args[0]); err != nil {
		return err
	}
	return o.numbers()
}

func (o *options) ourForm(arg string) error {
	word, name, _ := strings.Cut(arg, "/")
	o.source, o.from, o.to = name, migrate.KindOf(word), migrate.KindOf(o.toWord)
	switch {
	case name == "" || strings.Contains(name, "/"):
		return command.Usagef("for instance deployment/web", "%q is not TYPE/NAME", arg)
	case o.from == nil:
		return command.Usagef("types: "+strings.Join(migrate.Words(), ", ")+"", "replicas of a %s cannot move", word)
	case o.toWord == "":
		return command.Usagef("--to "+o.from.Counterpart.Word, "must specify --to")
	case o.fromWord != "":
		return command.Usagef("", "--from is of the older form: %s has the kind already", arg)
	case o.copied && !o.from.Nodes:
		return command.Usagef("--copy is for --create alone", "--copy and moving replicas exclude each other")
	}
	if o.to != o.from.Counterpart {
		return command.Usagef("one of: "+o.from.Counterpart.Word, "--to: a %s cannot become %q", o.from.Word, o.toWord)
	}
	if o.destination == "" {
		o.destination = name
	}
	return nil
}

// olderForm asks for what the older plugin asks for, in its words.
func (o *options) olderForm(arg string) error {
	o.older = true
	o.to, o.from = migrate.KindOf(arg), migrate.KindOf(o.fromWord)
	switch {
	case o.to == nil:
		return command.Usagef("or name the workload: deployment/web --to CloneSet", "currently only supported %s as dst type", strings.Join(migrate.Words(), ", "))
	case o.factory.Namespace() == "":
		return command.Usagef("", "must specify namespace by -n or --namespace")
	case o.fromWord == "":
		return command.Usagef("", "must specify --from")
	case o.source == "":
		return command.Usagef("", "must specify --src-name")
	case o.destination == "" && !o.create:
		return command.Usagef("", "must specify --dst-name")
	case o.from != o.to.Counterpart:
		return command.Usagef("", "currently only supported %s as src type", o.to.Counterpart.Word)
	case o.copied && !o.create:
		return command.Usagef("", "--copy is for --create alone")
	}
	if o.destination == "" {
		o.destination = o.source
	}
	return nil
}

func (o *options) numbers() error {
	if o.surge == 0 {
		o.surge = 1
	}
	if o.surge < 0 {
		return command.Usagef("", "--max-surge: %d pods at a time are too few", o.surge)
	}
	switch {
	case o.from.Nodes:
		if err := o.nodes(); err != nil {
			return err
		}
	case o.replicas == 0 || o.replicas < -1:
		return command.Usagef("-1 is all", "invalid replicas %d", o.replicas)
	case o.from.Keeps && o.copied:
		return command.Usagef("", "pods of both would have the same names: --copy is not for a %s", o.from.Word)
	case o.from.Keeps && o.destination != o.source:
		return command.Usagef("both sides have the name "+o.source, "pods and claims of a %s have its name, which cannot change", o.from.Word)
	}
	if o.timeout < 0 {
		return command.Usagef("", "--timeout: %s is in the past", o.timeout)
	}
	if o.seconds >= 0 && o.timeout == 0 {
		o.timeout = max(time.Duration(o.seconds)*time.Second, time.Nanosecond)
	}
	return nil
}

// nodes refuses what makes no sense where nodes make the number of pods, and two
// workloads cannot be beside each other.
func (o *options) nodes() error {
	switch {
	case o.replicas != -1:
		return command.Usagef("", "--replicas: nodes make the number of pods of a %s, and all move", o.from.Word)
	case o.create, o.copied:
		return command.Usagef("", "--create, --copy: two of one selector would quarrel about pods")
	case o.destination != o.source:
		return command.Usagef("both sides have the name "+o.source, "pods of a %s are taken over under their names", o.from.Word)
	}
	return nil
}
