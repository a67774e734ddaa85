package shell

import (
	"testing"

	"github.com/umpirehq/umpire"
)

func TestReckoners(t *testing.T) {
	t.Parallel()
	checkFamilyRisks(t, []riskCase{
		{"bc", "echo '1+1' | bc -l", umpire.Safe}, {"dc", "dc -e '2 3 ^ p'", umpire.Safe},
		{"dc", "echo '2 3 ^ p' | dc", umpire.Safe},
		{"dc starts programs", "dc -e '!ls'", umpire.Medium}, {"dc starts programs", "echo '!ls' | dc", umpire.Medium},
		{"dc starts programs", "dc -e '[!ls]x'", umpire.Medium}, {"dc reads code", "dc -e '?'", umpire.Medium},
		{"dc reads code", "cat x | dc", umpire.Medium}, {"dc reads code", "dc", umpire.Medium},
		{"dc reads code", "dc x.dc", umpire.Medium}, {"dc reads code", "dc -f x.dc", umpire.Medium},
		{"base64", "base64 -w 0 x", umpire.Safe}, {"base64", "base64 -d <<< aGk=", umpire.Safe},
		{"decoded code", "base64 -d x | sh", umpire.Medium}, {"base64 writes", "base64 -o y x", umpire.Medium},
		{"shfmt", "shfmt -d .", umpire.Safe}, {"shfmt", "shfmt -l -w .", umpire.Medium},
		{"versions", "ffmpeg -version", umpire.Safe}, {"versions", "ffmpeg -i a b -version", umpire.Medium},
		{"versions", "fzf --version --preview x", umpire.Medium},
		{"history", "history 10", umpire.Medium}, {"history", "history -c", umpire.Medium},
		{"history", "history -w x", umpire.Medium}, {"help", "help cd", umpire.Safe},
		{"docker", "docker service ls", umpire.Low}, {"docker", "docker service rm x", umpire.High},
		{"docker", "docker plugin install x", umpire.High}, {"helm", "helm repo list", umpire.Low},
		{"helm", "helm repo add x https://example.test", umpire.High},
		{"pacman", "pacman -Qi bash", umpire.Safe}, {"pacman", "pacman -Ss x", umpire.Safe},
		{"pacman", "pacman -Sy x", umpire.High}, {"pacman", "pacman -Q --root /x", umpire.High},
		{"pacman", "pacman -R x", umpire.High}, {"rustup", "rustup target list", umpire.Safe},
		{"rustup", "rustup target add x", umpire.High},
		{"lines read one by one", "while IFS= read -r l; do echo \"$l\"; done < x", umpire.Safe},
		{"a declaration changes case", "declare -l f; f=A; cat $f", umpire.Medium},
		{"another splitting", "IFS=x ls", umpire.Medium}, {"another splitting", "IFS=x; ls", umpire.Medium},
		{"code in the splitting", "IFS=$(rm x) read a", umpire.High},
	})
}
