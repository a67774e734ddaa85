package shell

import (
	"testing"

	"github.com/umpirehq/umpire"
)

func TestFileRisks(t *testing.T) {
	t.Parallel()
	checkRisks(t, []riskLine{
		{"rm -rf /tmp/test", umpire.High}, {"rmdir a", umpire.High}, {"chmod 777 /tmp/file", umpire.High},
		{"chown u a", umpire.High}, {"mkdir a", umpire.Medium}, {"touch a", umpire.Medium},
		{"cp a b", umpire.Medium}, {"mv a b", umpire.Medium}, {"ls | tee a", umpire.High},
		{"ls | tee /dev/null", umpire.Medium}, {"ls | tee", umpire.Safe}, {"rm --help", umpire.Safe},
		{"rm a --help", umpire.High},
		{"tar tf a.tar", umpire.Safe}, {"tar -tvzf a.tgz", umpire.Safe}, {"tar xf a.tar", umpire.Medium},
		{"tar czf a.tgz src", umpire.Medium}, {"tar --strange", umpire.Medium}, {"zcat a.gz", umpire.Safe},
		{"gzip -l a.gz", umpire.Safe}, {"gzip -k a", umpire.Medium}, {"gunzip a.gz", umpire.Medium},
		{"unzip -l a.zip", umpire.Safe}, {"unzip a.zip", umpire.Medium}, {"7z l a.7z", umpire.Safe},
		{"7z x a.7z", umpire.Medium}, {"ar t a.a", umpire.Safe}, {"rsync -a --del a b", umpire.High},
		{"rsync -a a h:b", umpire.High},
		{"man ls", umpire.Low}, {"vim a", umpire.Medium}, {"code --install-extension x", umpire.High},
	})
}

func TestFilePaths(t *testing.T) {
	t.Parallel()
	checkPaths(t, []pathLine{
		{"mv a b", "delete /p/a*, write /p/b"}, {"mv -t d a b", "delete /p/a*, delete /p/b*, write /p/d/a"},
		{"cp config .git", "read /p/config, write /p/.git, write /p/.git/config"},
		{"cp -S .bak a b", "read /p/a, write /p/b"}, {"cp --target-dir=d a", "read /p/a, write /p/d/a"},
		{"ln -s /etc/shadow x", "read /etc/shadow*, write /p/x"}, {"chmod -R 777 /etc", "write /etc*"},
		{"chmod -x a", "write /p/a"}, {"chmod --reference=/q a", "read /q, write /p/a"},
		{"touch -r /etc/x a", "read /etc/x, write /p/a"}, {"shred -u a", "write /p/a, delete /p/a"},
		{"tar xzf a.tgz -C out", "read /p/a.tgz, write /p/out*"}, {"tar czf a.tgz src", "write /p/a.tgz, read /p/src*"},
		{"tar -C /etc -cf a shadow", "write /p/a, read /etc/shadow*"},
		{"gunzip .git/config.gz", "write /p/.git/config"}, {"unzip a.zip -d out", "write /p/out*"},
		{"7z x a.7z -oout", "write /p/out*"}, {"install -d a b", "write /p/a, write /p/b"},
		{"rsync -a --delete a/ /", "delete /*"},
	})
}

func TestSystemRisks(t *testing.T) {
	t.Parallel()
	checkRisks(t, []riskLine{
		{"whoami", umpire.Safe}, {"date +%F", umpire.Safe}, {"date -s x", umpire.High}, {"date 01010000", umpire.High},
		{"hostname", umpire.Safe}, {"hostname x", umpire.High}, {"ps aux", umpire.Safe}, {"kill -9 1234", umpire.High},
		{"kill -l", umpire.Safe}, {"killall x", umpire.High},
		{"systemctl status nginx", umpire.Safe}, {"systemctl restart nginx", umpire.High},
		{"systemctl poweroff", umpire.Critical}, {"sysctl -a", umpire.Safe}, {"sysctl a=1", umpire.High},
		{"journalctl -u x -n 50", umpire.Safe}, {"journalctl --vacuum-size=1", umpire.High},
		{"crontab -l", umpire.Safe}, {"crontab -r", umpire.High},
		{"ip addr", umpire.Safe}, {"ip -br a", umpire.Safe}, {"ip link set a up", umpire.High},
		{"iptables -L -n", umpire.Safe}, {"iptables -F", umpire.High}, {"mount", umpire.Safe},
		{"mount a b", umpire.High}, {"ldd a", umpire.Medium}, {"top -b -n 1", umpire.Safe}, {"ss -tlnp", umpire.Safe},
		{"defaults read x", umpire.Safe}, {"defaults write x y z", umpire.High},
		{"shutdown now", umpire.Critical}, {"shutdown -c", umpire.Low}, {"shutdown --help", umpire.Safe},
		{"reboot", umpire.Critical}, {"init 0", umpire.Critical}, {"efibootmgr", umpire.Safe},
		{"efibootmgr -B -b 0000", umpire.Critical}, {"diskutil eraseDisk JHFS+ x disk0", umpire.Critical},
		{"dd if=a of=b", umpire.High}, {"dd", umpire.High}, {"fdisk -l", umpire.Safe}, {"zpool list", umpire.Safe},
		{"zpool destroy x", umpire.Critical}, {"zfs destroy x@y", umpire.High}, {"zfs destroy -r x", umpire.Critical},
		{"lvremove -f x/y", umpire.Critical}, {"lvm vgremove x", umpire.Critical}, {"kill -9 -1", umpire.Critical},
		{"kill -1 123", umpire.High}, {"kill -0 -1", umpire.High}, {"kill -s KILL -- -1", umpire.Critical},
		{"kill 1", umpire.Critical}, {"kill -HUP 1", umpire.High}, {"kill -9 -- -123", umpire.High},
		{"killall5", umpire.Critical}, {"format c:", umpire.Critical}, {"flashrom -w x", umpire.Critical},
		{"bootctl remove", umpire.Critical}, {"mdadm --detail /dev/md0", umpire.Safe},
		{"sgdisk -p /dev/sda", umpire.Safe}, {"wipefs /dev/sda", umpire.Safe},
	})
}

func TestDiskPaths(t *testing.T) {
	t.Parallel()
	checkPaths(t, []pathLine{
		{"dd if=/dev/zero of=/dev/sda", "read /dev/zero, write /dev/sda"},
		{"mkfs.ext4 -F /dev/sda1", "write /dev/sda1"}, {"mkfs -t ext4 /dev/sda1", "write /dev/sda1"},
		{"wipefs -a /dev/sda", "write /dev/sda"},
		{"sfdisk --delete /dev/sda", "write /dev/sda"}, {"badblocks -w /dev/sda", "write /dev/sda"},
		{"blkdiscard /dev/nvme0n1", "write /dev/nvme0n1"}, {"pvremove -ff /dev/sda", "write /dev/sda"},
		{"cryptsetup luksFormat /dev/sda", "write /dev/sda"},
	})
}
