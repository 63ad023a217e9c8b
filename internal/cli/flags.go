package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// hideConnectionFlags keeps --help short: kubectl's two dozen connection flags
// work everywhere and are known from kubectl.
func hideConnectionFlags(root *cobra.Command) {
	shown := map[string]bool{"namespace": true, "context": true, "kubeconfig": true, "color": true}
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
		f.Hidden = !shown[f.Name]
	})
}
