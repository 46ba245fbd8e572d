package contract

import (
	"fmt"

	"macaron/internal/chat"
)

// What happens to a view that outgrows the window.
const (
	ViewRefuse  = "refuse"  // the turn is refused, with the numbers
	ViewCompact = "compact" // older turns are shortened, on the record
)

// View says what happens when a specialist's view outgrows the window. A contract without
// it refuses.
type View struct {
	Overflow string `toml:"overflow" json:"overflow" rule:"need one=refuse|compact"` // ViewRefuse or ViewCompact
	Window   int    `toml:"window" json:"window,omitempty" rule:"range=0..1048576"`  // tokens of prompt and answer; 0: the engine's
	Room     int    `toml:"room" json:"room,omitempty" rule:"range=0..1048576"`      // tokens of it that are kept for the answer; 0: one
	Keep     int    `toml:"keep" json:"keep,omitempty" rule:"range=1..1048576"`      // runes of a user's message in a shortened turn
}

func (c *Contract) checkView() error {
	v := c.View
	switch {
	case v == nil:
		return nil
	case v.Overflow == ViewRefuse && v.Keep != 0:
		return bad("view.keep", "view.keep is for view.overflow = \"compact\"")
	case v.Overflow == ViewCompact && v.Keep == 0:
		return bad("view.keep", "view.keep is missing; view.overflow = \"compact\" needs it")
	case v.Window != 0 && v.Room >= v.Window:
		return bad("view.room", fmt.Sprintf("view.room is %d of a view.window of %d, which leaves no room for a prompt", v.Room, v.Window))
	}
	return nil
}

// Fits is how many tokens a prompt may have in a window of so many: all but the room that
// is kept for the answer. 0 means that nobody knows.
func (c *Contract) Fits(window int) int {
	room := 1
	if v := c.View; v != nil {
		if v.Window > 0 && (window == 0 || v.Window < window) {
			window = v.Window
		}
		room = max(room, v.Room)
	}
	if window == 0 {
		return 0
	}
	return max(1, window-room)
}

// Compacts reports whether a view that does not fit is shortened.
func (c *Contract) Compacts() bool { return c.View != nil && c.View.Overflow == ViewCompact }

// Omission stands in a view for turns that are left out: the specialist is told of them.
func Omission(turns int) []chat.Message {
	if turns == 0 {
		return nil
	}
	return []chat.Message{
		chat.Text(chat.User, fmt.Sprintf("[%d earlier turns are left out here.]", turns)),
		chat.Text(chat.Assistant, "[Understood.]"),
	}
}
