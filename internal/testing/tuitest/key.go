package tuitest

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

var named = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "space": tea.KeySpace, "backspace": tea.KeyBackspace,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd,
}

// key is a key by its name, as keys name themselves.
func key(name string) tea.KeyPressMsg {
	var k tea.KeyPressMsg
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
		name, k.Mod = rest, tea.ModCtrl
	}
	if rest, ok := strings.CutPrefix(name, "shift+"); ok {
		name, k.Mod = rest, k.Mod|tea.ModShift
	}
	if code, ok := named[name]; ok {
		k.Code = code
		return k
	}
	k.Code, _ = utf8.DecodeRuneInString(name)
	if k.Mod == 0 {
		k.Text = name
	}
	return k
}
