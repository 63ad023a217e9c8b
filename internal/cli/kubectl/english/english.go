// Package english has the commands that come from kubectl speak English, as all others
// do here. It is a package of its own because that must be said before the first of
// them is initialised: it knows nothing but kubectl's translations, and packages are
// initialised in the order of their paths as soon as what they import is.
package english

import "k8s.io/kubectl/pkg/util/i18n"

// Only indicates that no translations will be loaded. Reading them would take a third of
// the start of every command.
var Only = i18n.SetLoadTranslationsFunc(func() error { return nil }) == nil
