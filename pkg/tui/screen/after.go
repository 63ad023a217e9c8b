package screen

import tea "charm.land/bubbletea/v2"

// After is what shall happen after an update: [Now], [Later], or nil for nothing.
type After interface{ after() }

// Now is a message for whoever is above. It is taken before anything else: a key that is
// pressed next is one of the screen that this one opens, however fast it follows.
type Now struct{ Msg tea.Msg }

// Later is a command, whose message comes when it has one.
type Later tea.Cmd

func (Now) after() {}

func (Later) after() {}
