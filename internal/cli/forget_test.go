package cli

import (
	"sync"
	_ "unsafe" // for linkname

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// What cobra knows of flags that complete, for all command trees of the process.
var (
	//go:linkname completions github.com/spf13/cobra.flagCompletionFunctions
	completions map[*pflag.Flag]cobra.CompletionFunc
	//go:linkname completionLock github.com/spf13/cobra.flagCompletionMutex
	completionLock *sync.RWMutex
)

// forget has cobra forget the flags of trees that have served: it keeps them, and whatever
// their commands have read, as long as the process runs. A program makes one tree; thousands
// of them are three gigabytes.
func forget() {
	completionLock.Lock()
	defer completionLock.Unlock()
	clear(completions)
}
