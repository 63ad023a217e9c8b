package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/kustomize"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/isolated"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/linear"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/rooted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Bounds of one build of a kustomization.
const (
	// maxKustomizeBytes is the memory that kustomize may use.
	maxKustomizeBytes = 2 << 30
	// maxKustomizeTime is how long kustomize may take.
	maxKustomizeTime = 50 * time.Second
	// maxBuildFiles is how many files a build may read.
	maxBuildFiles = 100_000
	// maxBuildAgain is how often a build may read one file: bases that are named twice
	// at every level double with each. Kustomize takes ten times as long for each.
	maxBuildAgain, maxKustomizeAgain = 3_000, 300
	// maxBuildBytes bounds them all.
	maxBuildBytes = 1 << 30
)

// kustomizationDir is a kustomization to build.
type kustomizationDir struct {
	// Dir is the folder of the kustomization, as a person named it.
	Dir string
	// Root is the folder that nothing is read outside of. "" is the Git work tree that
	// holds Dir, else Dir itself.
	Root string
	// KruiseSchema is [Options.KruiseSchema].
	KruiseSchema *bool
	// withoutPlugins leaves generators, transformers and validators out.
	withoutPlugins bool
}

// product is what a build gives.
type product struct {
	// Text is what `kustomize build` prints.
	Text []byte
	// Undecided are the places where Kruise's schema or field lists would change the text, and
	// neither the kustomization nor a user has said whether they take part.
	Undecided []*resource.Error
	// Sources are where the objects of Text come from, in their order.
	Sources []linear.Source
	// Read are the real paths of the files that were read, up to a bound of their bytes.
	Read []string
	// places are made of all that.
	places *buildPlaces
}

// Kustomize builds the kustomization in dir, reading nothing outside of its Git work tree.
func Kustomize(dir string) ([]byte, error) {
	out, err := kustomizationDir{Dir: dir}.Build(context.Background())
	return out.Text, err
}

// Undecided returns the places of a kustomization where Kruise's schema would change what kustomize
// builds and nothing says whether it takes part. Functions are left out: they run neither here nor
// there. Nothing outside of root is read.
func Undecided(ctx context.Context, dir, root string) ([]*resource.Error, error) {
	k := kustomizationDir{Dir: dir, Root: root}
	out, err := k.Build(ctx)
	if err != nil && strings.Contains(err.Error(), pluginsDisabled) {
		k.withoutPlugins = true
		out, err = k.Build(ctx)
	}
	return out.Undecided, err
}

// pluginsDisabled is what kustomize says of a function that may not run.
const pluginsDisabled = "external plugins disabled"

// IsKustomization reports whether a directory holds a kustomization.
func IsKustomization(dir string) bool {
	return kustomizationFile(dir) != dir
}

// Build returns the bytes that `kustomize build` prints. With KruiseSchema true, kustomize
// also knows Kruise's kinds: strategic merge patches merge containers and the like by name, and
// labels, images, replicas and names reach selectors, templates and references, as they do in
// Kubernetes' own workloads (docs/facts/kustomize.md#merging-and-schema). If configurations of the
// kustomization differ about such a field, only they count.
//
// Nothing is read outside of the root, no connection is opened and no program run: what this
// program builds by itself uses neither, and kustomize builds the rest in an isolated process.
// Deprecation warnings go to the standard error of the process, as kustomize writes them.
func (k kustomizationDir) Build(ctx context.Context) (product, error) {
	if err := checkDirectory(k.Dir); err != nil {
		return product{}, err
	}
	job, err := k.job()
	if err != nil {
		return product{}, err
	}
	out, warnings, err := job.buildInProcess(ctx)
	switch {
	case ctx.Err() != nil:
		return product{}, ctx.Err()
	case errors.Is(err, errUnfit):
		job.Large = errors.Is(err, linear.ErrLarge)
		return job.buildIsolated(ctx)
	case err != nil:
		return product{}, err
	}
	warn(strings.Join(warnings, "\n"))
	return out, nil
}

// file is the path of the kustomization, or of its folder where it has none.
func (j job) file() string { return kustomizationFile(j.Name) }

func kustomizationFile(dir string) string {
	for _, name := range kustomizationFiles {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path
		}
	}
	return dir
}

// job is one build, as it is sent to the process that does it.
type job struct {
	// Name is the folder as it was named, Dir and Root are real paths.
	Name, Dir, Root string
	// Chosen is true if the root was named, too.
	Chosen bool
	// Large is true if this program could build it, in a process with bounds.
	Large bool
	// KruiseSchema is that of [Options].
	KruiseSchema *bool
	// WithoutPlugins leaves out what kustomize would run or configure beside its own fields.
	WithoutPlugins bool
}

// knowing reports whether Kruise's schema takes part in what is built.
func (j job) knowing() bool { return j.KruiseSchema != nil && *j.KruiseSchema }

func (k kustomizationDir) job() (job, error) {
	j := job{Name: k.Dir, Chosen: k.Root != "", KruiseSchema: k.KruiseSchema, WithoutPlugins: k.withoutPlugins}
	var err error
	if j.Dir, err = realPath(k.Dir); err != nil {
		return j, unreadable(k.Dir, err)
	}
	if !j.Chosen {
		if j.Root, err = rooted.WorkTree(j.Dir); err != nil {
			return j, unreadable(k.Dir, err)
		}
		return j, nil
	}
	if j.Root, err = realPath(k.Root); err != nil {
		return j, unreadable(k.Root, err)
	}
	if rel, err := filepath.Rel(j.Root, j.Dir); err != nil || !filepath.IsLocal(rel) {
		return j, &resource.Error{File: k.Dir, Err: fmt.Errorf("does not lie in the root %s", k.Root), Hint: "name a folder that holds it with --root"}
	}
	return j, nil
}

// realPath is the absolute path of a folder, without links.
func realPath(dir string) (string, error) {
	path, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

func (j job) open(ctx context.Context, again int) (*rooted.Root, error) {
	root, err := rooted.Open(ctx, j.Root, rooted.Limits{FileBytes: DefaultMaxFileBytes, AllBytes: maxBuildBytes, Files: maxBuildFiles, Again: again})
	if err != nil {
		return nil, unreadable(j.Name, err)
	}
	return root, nil
}

// errUnfit is returned for a kustomization that only kustomize itself can build, or whose fault
// only kustomize can report.
var errUnfit = errors.New("left to kustomize")

// buildInProcess builds what can be built without kustomize to the same bytes. The lines are
// kustomize's warnings.
func (j job) buildInProcess(ctx context.Context) (out product, warnings []string, err error) {
	progress := resource.ProgressOf(ctx)
	built, d, err := j.buildLinear(resource.WithProgress(ctx, progress.Within(0, .5)), j.knowing())
	defer d.close()
	if err != nil {
		return out, nil, err
	}
	out.Text = built.Text
	out.places = j.newPlaces(d, built.Sources)
	if j.KruiseSchema != nil || !ofKruise(out.Text) {
		return out, built.Warnings, nil
	}
	known, again, err := j.buildLinear(resource.WithProgress(ctx, progress.Within(.5, 1)), true)
	defer again.close()
	if err != nil {
		return product{}, nil, err
	}
	out.Undecided, err = j.undecided(d, out.Text, known.Text)
	return out, built.Warnings, err
}

// buildLinear builds with or without Kruise's schema, and returns what was read; the caller closes
// it, unless there is none.
func (j job) buildLinear(ctx context.Context, knowing bool) (built linear.Built, d *disk, err error) {
	root, err := j.open(ctx, maxBuildAgain)
	if err != nil {
		return built, nil, err
	}
	d = &disk{root: root, weighed: true, withoutPlugins: j.WithoutPlugins}
	additions, config, err := kruiseKinds(knowing)
	if err != nil {
		return built, d, err
	}
	err = kustomize.WithSchema(additions, func() (err error) {
		built, err = linear.Reported(d, j.Dir, config, resource.ProgressOf(ctx))
		return err
	})
	if err == nil {
		return built, d, nil
	}
	if refusal := root.Refused(); refusal != nil {
		return built, d, j.refusedByRoot(d, refusal)
	}
	if d.heavy || errors.Is(err, linear.ErrLarge) {
		return built, d, fmt.Errorf("%w: %w", errUnfit, linear.ErrLarge)
	}
	return built, d, errUnfit
}

// configuration is kustomize.Configuration, which takes longer to make than a small
// kustomization to build. It must not be changed.
var configuration = sync.OnceValues(kustomize.Configuration)

// kruiseKinds are the schema of Kruise's kinds and the configuration for them, none of which plain
// kustomize has.
func kruiseKinds(knowing bool) (additions, config []byte, err error) {
	if !knowing {
		return nil, nil, nil
	}
	if additions, err = kustomize.Additions(); err != nil {
		return nil, nil, fmt.Errorf("the schema of the Kruise kinds: %w", err)
	}
	if config, err = configuration(); err != nil {
		return nil, nil, fmt.Errorf("the configuration for the Kruise kinds: %w", err)
	}
	return additions, config, nil
}

// buildIsolated has kustomize build in a process of its own.
func (j job) buildIsolated(ctx context.Context) (product, error) {
	limits := isolated.Limits{MemoryBytes: maxKustomizeBytes, Time: maxKustomizeTime, OutputBytes: DefaultMaxFileBytes}
	out, said, err := isolated.Run(ctx, work, j.Root, j, limits)
	fault := &resource.Error{File: j.file(), Err: err, Hint: "render parts of it by themselves"}
	switch {
	case ctx.Err() != nil:
		return product{}, ctx.Err()
	case errors.Is(err, isolated.ErrMemory):
		fault.Err = fmt.Errorf("kustomize takes more than %s of memory", size(maxKustomizeBytes))
		return product{}, fault
	case errors.Is(err, isolated.ErrTime):
		fault.Err = fmt.Errorf("kustomize takes longer than %s", maxKustomizeTime)
		return product{}, fault
	case errors.Is(err, isolated.ErrOutput):
		return product{}, tooLarge(j.file(), DefaultMaxFileBytes)
	case err != nil:
		fault.Err, fault.Hint = fmt.Errorf("kustomize: %w", err), ""
		return product{}, fault
	}
	warn(string(said))
	answer, err := readAnswer(out)
	if err != nil {
		return product{}, err
	}
	answer.places, err = j.placesOf(ctx, answer)
	return answer, err
}

// placesOf reads what another process has built from again, and finds the places of what it built.
func (j job) placesOf(ctx context.Context, built product) (*buildPlaces, error) {
	root, err := j.open(ctx, maxKustomizeAgain)
	if err != nil {
		return nil, err
	}
	d := &disk{root: root}
	defer d.close()
	for _, name := range built.Read {
		_, _ = d.ReadFile(name) // without it, places in it are not known
	}
	return j.newPlaces(d, built.Sources), ctx.Err()
}

// silently calls f without what kustomize writes to standard error.
func silently(f func()) {
	stderr := os.Stderr
	os.Stderr = nil
	defer func() { os.Stderr = stderr }()
	f()
}

// warn passes kustomize's warnings of deprecated fields on, which are fixed sentences.
func warn(said string) {
	for line := range strings.Lines(said) {
		if strings.HasPrefix(line, "# Warning:") {
			fmt.Fprintln(os.Stderr, strings.TrimRight(line, "\n"))
		}
	}
}

// kustomization is the source that a build gives. What is undecided about it goes to undecided, and
// without that is a fault.
func kustomization(ctx context.Context, k kustomizationDir, undecided *[]*resource.Error) source {
	name, where := kustomizationFile(k.Dir), &buildPlaces{}
	return source{name: name, places: where, read: func(limit int64) ([]byte, error) {
		out, err := k.Build(ctx)
		if err != nil {
			return nil, withFile(name, err)
		}
		*where = *out.places
		var errs resource.Errors
		for _, place := range out.Undecided {
			if undecided == nil {
				errs.Add(place)
			} else {
				*undecided = append(*undecided, place)
			}
		}
		if int64(len(out.Text)) > limit {
			errs.Add(tooLarge(name, limit))
		}
		return out.Text, errs.Err()
	}}
}

// withFile gives err the file name unless it has a place already.
func withFile(name string, err error) error {
	if _, ok := errors.AsType[*resource.Error](err); ok {
		return err
	}
	return &resource.Error{File: name, Err: err}
}

// checkDirectory refuses in plain words what kustomize refuses in its own.
func checkDirectory(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil && url.MatchString(dir):
		return remoteFault(dir, resource.Error{})
	case err != nil:
		return unreadable(dir, err)
	case !info.IsDir():
		return &resource.Error{File: dir, Err: errors.New("is no directory"), Hint: "name the directory that holds the kustomization; single files are named with -f"}
	}
	return nil
}
