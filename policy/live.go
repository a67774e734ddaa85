package policy

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
)

// live are programs that need a terminal or a daemon, which a trial does not have. Trying them
// shows nothing: an editor hangs, and a client finds no server.
const live = "vi vim nvim view vimdiff nvimdiff gvim mvim ex rvim vimtutor nano pico micro hx helix kak kakoune joe " +
	"mcedit jed mg ne emacs emacsclient ed top htop btop atop gtop glances iotop nmon watch less more most dialog " +
	"whiptail mc ranger nnn lf tig lazygit lazydocker k9s screen tmux zellij psql mysql mariadb mysqladmin redis-cli " +
	"valkey-cli mongosh mongo sqlcmd cqlsh influx clickhouse-client docker podman nerdctl docker-compose crictl ctr " +
	"qdel qsub qalter qhold qrls qmod scancel sbatch srun salloc scontrol bkill bsub bstop condor_rm condor_submit " +
	"oarsub oardel systemctl service rc-service launchctl supervisorctl pm2 loginctl machinectl virsh nmcli " +
	"bluetoothctl rabbitmqctl rabbitmqadmin nats crontab at batch atrm lp lpr cancel dbus-send busctl gdbus xdotool"

// needsLive reports whether an access starts a program that a trial cannot show because it
// needs a terminal or a running daemon.
func needsLive(a *umpire.Access) bool {
	return a.Kind == umpire.KindExec && slices.Contains(strings.Fields(live), a.Program)
}
