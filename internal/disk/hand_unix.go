//go:build unix

package disk

import (
	"os"
	"syscall"
)

func owner(root *os.Root, name string) (uid, gid int, ok bool, err error) {
	info, err := root.Stat(name)
	if err != nil {
		return 0, 0, false, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false, nil
	}
	return int(st.Uid), int(st.Gid), true, nil
}
