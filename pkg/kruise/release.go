package kruise

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Release is a release of Kruise, such as 1.8 or 1.8.4, or what comes after the newest
// one. The zero value is a release that is not known.
type Release struct {
	// minor counts from 1 for 1.0, so that the zero value is none.
	minor int
	// patch is newestPatch where none was given.
	patch int
}

const newestPatch = math.MaxInt32

// Next is Kruise's main branch, after [NewestRelease].
var Next = Release{minor: math.MaxInt32, patch: newestPatch}

// NewestRelease is the newest release that the tables know.
var NewestRelease = Minor(9)

// OldestRecorded is the oldest release of which answers were recorded: of older ones,
// the tables are all that is known.
var OldestRecorded = Minor(5)

// nextName is how [Next] is written.
const nextName = "next"

// Minor is the newest patch of 1.n.
func Minor(n int) Release { return Release{minor: n + 1, patch: newestPatch} }

// ParseRelease reads "1.8", "1.8.4" or "v1.8.4", where a minor release alone means its
// newest patch, and "next", which is Kruise's main branch. What is newer than the tables
// is taken for next.
func ParseRelease(text string) (Release, error) {
	if text == nextName {
		return Next, nil
	}
	bad := fmt.Errorf("%q is not a release of Kruise: want 1.0 to %s, such as 1.8 or 1.8.4, or %s", text, NewestRelease, nextName)
	core, _, _ := strings.Cut(strings.TrimPrefix(text, "v"), "-")
	parts := strings.Split(core, ".")
	if len(parts) < 2 || len(parts) > 3 || parts[0] != "1" {
		return Release{}, bad
	}
	numbers := make([]int, len(parts))
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || p != strconv.FormatUint(n, 10) {
			return Release{}, bad
		}
		numbers[i] = int(n)
	}
	r := Minor(numbers[1])
	if len(numbers) == 3 {
		r.patch = numbers[2]
	}
	if r.minor > NewestRelease.minor {
		return Next, nil
	}
	return r, nil
}

// String is the release as [ParseRelease] reads it; "" for one that is not known.
func (r Release) String() string {
	switch {
	case r.minor == 0:
		return ""
	case r == Next:
		return nextName
	case r.patch == newestPatch:
		return fmt.Sprintf("1.%d", r.minor-1)
	}
	return fmt.Sprintf("1.%d.%d", r.minor-1, r.patch)
}

// Name is the release in a sentence, such as "Kruise 1.8"; for [Next] it includes that there is no
// such release yet.
func (r Release) Name() string {
	switch {
	case r.IsZero():
		return "Kruise"
	case r == Next:
		return "Kruise after " + NewestRelease.String()
	}
	return "Kruise " + r.String()
}

// IsZero reports that the release is not known.
func (r Release) IsZero() bool { return r.minor == 0 }

// OrNewest is the release, or the newest one where it is not known.
func (r Release) OrNewest() Release {
	if r.IsZero() {
		return NewestRelease
	}
	return r
}

// Compare is negative where r is older than other, positive where it is newer.
func (r Release) Compare(other Release) int {
	return cmp.Or(cmp.Compare(r.minor, other.minor), cmp.Compare(r.patch, other.patch))
}

// Before reports that r is older than the minor release of first. That is how fields and
// versions came: with the first patch of a minor release, as far as is known.
func (r Release) Before(first Release) bool { return r.minor < first.minor }

// IsBefore reports that r is older than a patch, such as 1.7.5.
func (r Release) IsBefore(patch Release) bool { return r.Compare(patch) < 0 }

// roundsUp is the first release that rounds percentages of a SidecarSet up.
var roundsUp = Release{minor: Minor(7).minor, patch: 5}

// RoundsSidecarSetsDown reports whether percentages of a SidecarSet's partition and
// maxUnavailable are rounded down: before 1.7.5 (docs/kruise/versions.md). A release that
// is not known does not.
func (r Release) RoundsSidecarSetsDown() bool { return !r.IsZero() && r.IsBefore(roundsUp) }

// Minor is the minor release without its patch.
func (r Release) Minor() Release { return Release{minor: r.minor, patch: newestPatch} }

// Releases are the minor releases that the tables know, the oldest first, and [Next].
func Releases() []Release {
	var out []Release
	for r := Minor(0); r.minor <= NewestRelease.minor; r.minor++ {
		out = append(out, r)
	}
	return append(out, Next)
}

// Span defines in which releases something is there.
type Span struct {
	// First is the release that brought it.
	First Release
	// Last is the last release with it; the zero value where it is still there.
	Last Release
}

// Has reports whether it is there in a release.
func (s Span) Has(r Release) bool {
	return !r.Before(s.First) && (s.Last.IsZero() || !s.Last.Before(r))
}

// Words returns the releases as a text: "since Kruise 1.9", "only in Kruise 1.8", "until Kruise
// 1.4", "since Kruise after 1.9, which is no release yet".
func (s Span) Words() string {
	switch {
	case s.First == Next:
		return "only in versions after Kruise " + NewestRelease.String()
	case s.Last.IsZero():
		return "since " + s.First.Name()
	case s.Last == s.First:
		return "only in " + s.First.Name()
	case s.First.Compare(Minor(0)) <= 0:
		return "until " + s.Last.Name()
	}
	return "from " + s.First.Name() + " to " + s.Last.String()
}

// Equal reports that both are the same release.
func (r Release) Equal(other Release) bool { return r == other }
