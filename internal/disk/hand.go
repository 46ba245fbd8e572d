package disk

import (
	"errors"
	"os"
	"path"
)

// Hand gives a file that was just written, and the directories on its way, to whoever owns
// the root: a sandbox of root runs as another user, and works on files that are its own.
func Hand(root *os.Root, name string) error {
	uid, gid, ok, err := owner(root, ".")
	if err != nil || !ok || uid == os.Geteuid() {
		return err
	}
	var failed error
	for at := path.Clean(name); at != "." && at != "/"; at = path.Dir(at) {
		failed = errors.Join(failed, root.Lchown(at, uid, gid))
	}
	return failed
}
