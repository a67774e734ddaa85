package host

import (
	"time"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
	"github.com/umpirehq/umpire/internal/host/relay"
)

// Hosts lists the known hosts. Each is one row below; only exceptions are functions, in the files
// of their hosts.
var Hosts = []*Host{
	&claude, &codex, &gemini, &qwen, &copilot, &vscode, &opencode, &cursor, &crush, &cline, &kiro, &amp, &droid,
	&windsurf, &kimi, &antigravity, &grok, &muse,
}

// ClaudeVersion is the release of Claude Code that its tables were checked against.
const ClaudeVersion = "2.1.330"

// claude is Claude Code. Its tools include those of older releases.
var claude = Host{
	Caller: &relay.Claude, Title: "Claude Code", Program: []string{"claude"},
	Settings: Settings{FormatJSON, ".claude/settings.json", ".claude/settings.json", "CLAUDE_CONFIG_DIR"},
	Decides: []HookEvent{
		{Name: "PreToolUse", Kind: BeforeTool, form: &claudeBefore},
		{Name: "PermissionRequest", Kind: BeforeDialog, form: &claudeDialog},
	},
	Reports:   "PostToolUse PostToolUseFailure SessionStart UserPromptSubmit Stop SessionEnd",
	FailedRan: true,
	Others: "PostToolBatch PermissionDenied Notification UserPromptExpansion StopFailure SubagentStart SubagentStop " +
		"PreCompact PostCompact Setup TeammateIdle TaskCreated TaskCompleted ConfigChange CwdChanged FileChanged " +
		"WorktreeCreate WorktreeRemove InstructionsLoaded Elicitation ElicitationResult",
	Tools: claudeTools, Special: claudeSpecial,
	modes: []HostMode{
		{"", Default, SilenceChecks}, // older versions send no mode, and have only this one
		{"default", Default, SilenceChecks},
		{"acceptEdits", AcceptEdits, SilenceChecks},
		{"auto", Auto, SilenceChecks},
		// It still checks its own ask rules and the paths that it calls critical.
		{"bypassPermissions", Bypass, SilenceChecks},
		{"plan", Plan, SilenceChecks},
		{"dontAsk", DontAsk, SilenceChecks},
	},
	InShellDir: true, Shells: shellFamily, GitBash: true, Holds: holdsRest,
	Folders: []Folder{
		{Root: rootSettings, Pattern: "plans/*.md", Writes: true, Plan: true, Why: "the plan of plan mode"},
		{Root: rootSettings, Pattern: "projects/*/memory/**", Writes: true,
			Why: "what the model keeps between sessions"},
		{Root: rootSettings, Pattern: "projects/*/*/tool-results/**", Why: "results too long for the conversation"},
		{Root: rootSettings, Pattern: "todos/*.json", Why: "the agent's list of tasks"},
		{Root: rootSettings, Pattern: "tasks/**", Why: "the agent's list of tasks"},
		{Root: rootScratch, Pattern: "*/*/tasks/**", Why: "the output of background commands"},
		{Root: rootScratch, Pattern: "*/*/scratchpad/**", Writes: true, Why: "the model's temporary files"},
	},
	Scratch: "/tmp/claude-",
	Holes: []umpire.Phrase{holeBadAnswer, "files that a prompt mentions with @ are not seen",
		"nothing is seen where its settings or flags turn hooks off"},
	Evidence: Driven, Version: ClaudeVersion, fields: claudeFields, turnMessage: "systemMessage",
}

// claudeTools are the tools of Claude Code. Monitor runs a shell command and reports its lines;
// without a command it opens a socket, and stays unknown.
const claudeTools = "Bash Read Glob Grep LS Write Edit MultiEdit=Edit WebFetch WebSearch TodoWrite " +
	"TaskCreate=TodoWrite TaskUpdate=TodoWrite TaskGet=TodoRead TaskList=TodoRead Task Agent=Task ListAgents " +
	"SendMessage Workflow TaskStop=KillShell KillShell KillBash=KillShell TaskOutput=BashOutput BashOutput " +
	"CronCreate CronDelete CronList ScheduleWakeup ToolSearch Skill SlashCommand=Skill LSP ReportFindings " +
	"SendUserMessage StructuredOutput EnterWorktree ExitWorktree EnterPlanMode ExitPlanMode AskUserQuestion"

var claudeSpecial = []Tool{
	{Name: "Monitor", As: "Bash", Needs: "command", Background: true},
	{Name: "NotebookRead", As: "Read", From: "notebook_path", To: "file_path"},
	{Name: "NotebookEdit", As: "Edit", From: "notebook_path", To: "file_path"},
}

// codex is OpenAI's Codex. It drops an answer with an unknown field, and runs the call. Its hooks
// receive the namespace and the name of a tool as one word. A sub-agent's own calls are asked about
// separately.
var codex = Host{
	Caller: &relay.Codex, Title: "Codex", Program: []string{"codex"},
	Settings: Settings{FormatJSON, ".codex/hooks.json", ".codex/hooks.json", "CODEX_HOME"},
	Decides: []HookEvent{
		{Name: "PreToolUse", Kind: BeforeTool, form: &codexBefore},
		{Name: "PermissionRequest", Kind: BeforeDialog, form: &claudeDialog},
	},
	Reports: "PostToolUse SessionStart UserPromptSubmit Stop SessionEnd",
	Others:  "PreCompact PostCompact SubagentStart SubagentStop Interrupt",
	Marks:   [][]string{{"turn_id", "model"}},
	Tools: "Bash apply_patch=Edit?command view_image=Read update_plan=TodoWrite list_mcp_resources=ToolSearch " +
		"list_mcp_resource_templates=ToolSearch collaborationspawn_agent=Task collaborationfollowup_task=Task " +
		"collaborationsend_message=Task collaborationwait_agent=Task collaborationlist_agents=Task " +
		"collaborationinterrupt_agent=Task",
	Special: []Tool{{Name: "write_stdin", As: "write_stdin", Types: true}},
	modes: []HostMode{
		{"default", Default, SilenceChecks}, // its sandbox holds the command, or it asks
		{"acceptEdits", AcceptEdits, SilenceChecks},
		{"plan", Plan, SilenceChecks},
		{"dontAsk", DontAsk, SilenceChecks},
		{"bypassPermissions", Bypass, SilenceRuns}, // also codex exec, whose sandbox may confine the call
	},
	Shells: shellFamily,
	Holes: []umpire.Phrase{holeBadAnswer,
		"what is typed into a program that runs is not seen, so programs that wait for input are refused",
		"the folder that a command names for itself is not seen",
		"the files of a patch that a shell command applies are not seen, so such commands ask",
		"commands are tried only where its own sandbox is off"},
	Evidence: Driven, Version: "0.169.0",
	fields: codexFields, turnMessage: "systemMessage", complete: completeCodex, silence: codexSilence, unseen: true,
}

// gemini is Google's Gemini CLI. Its payloads contain neither a mode nor ids, and a hook's allow
// has no effect. It may be in its yolo mode.
var gemini = Host{
	Caller: &relay.Gemini, Title: "Gemini CLI", Program: []string{"gemini"},
	Settings: Settings{FormatJSON, ".gemini/settings.json", ".gemini/settings.json", ""},
	Decides:  []HookEvent{{Name: "BeforeTool", Kind: BeforeTool, form: &geminiBefore}},
	Reports:  "AfterTool=PostToolUse SessionStart BeforeAgent=UserPromptSubmit AfterAgent=Stop SessionEnd",
	Others:   "BeforeModel AfterModel BeforeToolSelection PreCompress Notification",
	Tools: "read_file=Read write_file=Write replace=Edit web_fetch=WebFetch?url google_web_search=WebSearch " +
		"write_todos=TodoWrite activate_skill=Skill invoke_agent=Task get_internal_docs=ToolSearch " +
		"ask_user=AskUserQuestion enter_plan_mode=EnterPlanMode exit_plan_mode=ExitPlanMode",
	Special: []Tool{
		{Name: "run_shell_command", As: "Bash", Dir: "dir_path"},
		{Name: "list_directory", As: "LS", From: "dir_path", To: "path"},
		{Name: "glob", As: "Glob", From: "dir_path", To: "path"},
		{Name: "grep_search", As: "Grep", From: "dir_path", To: "path"},
		{Name: "search_file_content", As: "Grep", From: "dir_path", To: "path"},
	},
	unit: time.Millisecond, Shells: shellBash, Holds: holdsAll,
	Folders: []Folder{
		{Root: rootSettings, Pattern: "tmp/*/plans/*.md", Writes: true, Plan: true, Why: "the plan of plan mode"},
		{Root: rootSettings, Pattern: "tmp/*/tool-outputs/**", Why: "results too long for the conversation"},
	},
	Holes: []umpire.Phrase{holeBadAnswer, holeNoMode, holeAskedAgain, holeEqualCalls, holeACP,
		"commands are tried only in its yolo mode"},
	Evidence: Driven, Version: "0.61.0", turnMessage: "systemMessage",
	fields: fields{
		event: "hook_event_name", session: "session_id", dir: "cwd",
		tool: "tool_name", input: "tool_input", response: "tool_response.returnDisplay",
		server: "mcp_context.server_name", serverTool: "mcp_context.tool_name",
	},
}

// qwen is Alibaba's Qwen Code: Gemini CLI's tools, and Claude Code's hooks.
var qwen = Host{
	Caller: &relay.Qwen, Title: "Qwen Code", Program: []string{"qwen"},
	Settings:  Settings{FormatJSON, ".qwen/settings.json", ".qwen/settings.json", ""},
	Decides:   []HookEvent{{Name: "PreToolUse", Kind: BeforeTool, form: &noAllow}},
	Reports:   "PostToolUse PostToolUseFailure SessionStart UserPromptSubmit Stop SessionEnd",
	FailedRan: true,
	Others:    "PermissionRequest Notification SubagentStart SubagentStop PreCompact PostCompact StopFailure",
	Tools: "read_file=Read list_directory=LS glob=Glob grep_search=Grep search_file_content=Grep write_file=Write " +
		"replace=Edit edit=Edit web_fetch=WebFetch?url web_search=WebSearch todo_write=TodoWrite task=Task " +
		"agent=Task skill=Skill ask_user_question=AskUserQuestion exit_plan_mode=ExitPlanMode",
	Special: []Tool{{Name: "run_shell_command", As: "Bash", Dir: "directory"}},
	unit:    time.Millisecond,
	modes: []HostMode{
		{"default", Default, SilenceChecks}, {"auto-edit", AcceptEdits, SilenceChecks},
		{"auto_edit", AcceptEdits, SilenceChecks}, {"plan", Plan, SilenceChecks}, {"yolo", Bypass, SilenceRuns},
	},
	Shells: shellBash, Holds: holdsAll, Holes: []umpire.Phrase{holeBadAnswer, holeACP, holeNoRewrite},
	Evidence: Driven, Version: "0.24.4", fields: claudeFields,
}

// copilot is GitHub's Copilot CLI. A hook's allow would override the user's denials, so umpire
// never sends one. Hooks are not told of --allow-all-tools.
var copilot = Host{
	Caller: &relay.Copilot, Title: "Copilot CLI", Program: []string{"copilot"},
	Settings: Settings{FormatJSON, ".copilot/hooks/umpire.json", ".github/hooks/umpire.json", "COPILOT_HOME"},
	Decides:  []HookEvent{{Name: "preToolUse", Kind: BeforeTool, form: &copilotBefore}},
	Reports: "postToolUse=PostToolUse sessionStart=SessionStart userPromptSubmitted=UserPromptSubmit " +
		"sessionEnd=SessionEnd",
	Others: "permissionRequest errorOccurred agentStop subagentStop preCompact notification",
	Marks: [][]string{
		{"toolName", "toolArgs"}, {"toolName", "sessionId", "!hookEventName"},
		{"sessionId", "timestamp", "!hookEventName"},
	},
	Tools: "bash=Bash read_bash=BashOutput list_bash=BashOutput stop_bash=KillShell view=Read create=Write edit=Edit " +
		"glob=Glob grep=Grep rg=Grep web_fetch=WebFetch?url web_search=WebSearch task=Task skill=Skill " +
		"update_todo=TodoWrite report_intent=SendUserMessage fetch_copilot_cli_documentation=ToolSearch " +
		"ask_user=AskUserQuestion exit_plan_mode=ExitPlanMode",
	Special: []Tool{{Name: "write_bash", As: "write_bash", Types: true}},
	Shells:  shellBash, Holds: holdsAll,
	Holes:    []umpire.Phrase{holeBadAnswer, holeNoMode, holeAskedAgain, holeEqualCalls},
	Evidence: Driven, Version: "1.0.102",
	fields: fields{
		session: "sessionId", dir: "cwd", agentType: "agentType",
		tool: "toolName", input: "toolArgs", response: "toolResult.textResultForLlm",
	},
	eventOf: copilotEvent,
}

// vscode are the agents of Visual Studio Code. Tools may be approved beforehand.
var vscode = Host{
	Caller: &relay.VSCode, Title: "VS Code", Program: []string{"code", "code-insiders"},
	Settings: Settings{FormatJSON, ".copilot/hooks/umpire-vscode.json", ".github/hooks/umpire.json", ""},
	Decides:  []HookEvent{{Name: "PreToolUse", Kind: BeforeTool, form: &noAllow}},
	Reports:  "PostToolUse SessionStart UserPromptSubmit Stop",
	Others:   "PreCompact SubagentStart SubagentStop",
	Marks:    [][]string{{"hookEventName", "timestamp"}},
	Tools: "run_in_terminal=Bash runTerminalCommand=Bash read_file=Read readFile=Read list_dir=LS create_file=Write " +
		"replace_string_in_file=Edit insert_edit_into_file=Edit fetch_webpage=WebFetch?url " +
		"manage_todo_list=TodoWrite runSubagent=Task",
	Special: []Tool{
		{Name: "file_search", As: "Glob", From: "query", To: "pattern"},
		{Name: "grep_search", As: "Grep", From: "query", To: "pattern"},
		{Name: "editFiles", As: "Edit", From: "files", To: "paths"},
	},
	Holes:   []umpire.Phrase{holeNoMode, holeLate, holeNoRewrite},
	Version: "1.110",
	fields: fields{
		event: "hookEventName", session: "sessionId", dir: "cwd",
		tool: "tool_name", input: "tool_input", id: "tool_use_id", response: "tool_response",
	},
}

// opencode and amp have plugins instead of hooks: a small plugin of umpire starts the hook. Silence
// passes the call on to the host's own check, and any exit code other than 0 stops it.
var opencode = Host{
	Caller: &relay.OpenCode, Title: "opencode", Program: []string{"opencode"},
	Settings: Settings{
		FormatPlugin, ".config/opencode/plugin/umpire.js", ".opencode/plugin/umpire.js", "XDG_CONFIG_HOME",
	},
	Decides: []HookEvent{{Name: "tool.execute.before", Kind: BeforeTool, form: &opencodeBefore}},
	Reports: "tool.execute.after=PostToolUse",
	Marks:   [][]string{{"sessionID", "callID"}},
	Tools: "read=Read write=Write edit=Edit multiedit=Edit patch=Edit?patchText apply_patch=Edit?patchText list=LS " +
		"glob=Glob grep=Grep webfetch=WebFetch?url websearch=WebSearch codesearch=WebSearch todowrite=TodoWrite " +
		"todoread=TodoRead task=Task skill=Skill lsp=LSP question=AskUserQuestion",
	Special: []Tool{{Name: "bash", As: "Bash", Dir: "workdir"}},
	// Its own rules apply after the plugin, and let nearly all run.
	modes:  []HostMode{{"", Bypass, SilenceChecks}, {"auto", Bypass, SilenceRuns}},
	Shells: shellFamily, Holes: []umpire.Phrase{holeNoPlugins},
	Evidence: Driven, Version: "1.18.33",
	fields: fields{
		event: "hook", session: "sessionID", dir: "directory", project: "directory", mode: "mode",
		tool: "tool", input: "args", id: "callID", response: "output",
	},
	complete: completePatch,
}

// amp runs tools without asking.
var amp = Host{
	Caller: &relay.Amp, Title: "Amp", Program: []string{"amp"},
	Settings: Settings{FormatPlugin, ".config/amp/plugins/umpire.ts", "", "XDG_CONFIG_HOME"},
	Decides:  []HookEvent{{Name: "tool.call", Kind: BeforeTool, form: &pluginBefore}},
	Marks:    [][]string{{"hook", "toolUseID"}},
	Tools: "Read create_file=Write edit_file=Edit undo_edit=Edit glob=Glob Grep read_web_page=WebFetch?url " +
		"web_search=WebSearch todo_write=TodoWrite todo_read=TodoRead Task skill=Skill",
	Special: []Tool{{Name: "Bash", As: "Bash", From: "cmd", To: "command", Dir: "cwd"}},
	Holes:   []umpire.Phrase{holeNoMode, holeNoPlugins, holeNoRewrite},
	Version: "2026-11",
	fields: fields{
		event: "hook", session: "thread", dir: "cwd", project: "cwd", tool: "tool", input: "input", id: "toolUseID",
	},
}

// cursor is Cursor, in the editor and as a program, which may run everything. It reports a shell
// command twice; the second report gets the answer already given to the first.
var cursor = Host{
	Caller: &relay.Cursor, Title: "Cursor", Program: []string{"cursor", "cursor-agent"},
	Settings: Settings{FormatJSON, ".cursor/hooks.json", ".cursor/hooks.json", ""},
	Decides: []HookEvent{
		{Name: "preToolUse", Kind: BeforeTool, form: &cursorBefore},
		{Name: "beforeShellExecution", Kind: BeforeTool, Again: true, form: &cursorBefore, tool: "Shell",
			single: "command"},
		{Name: "beforeMCPExecution", Kind: BeforeTool, Again: true, form: &cursorBefore, quoted: true},
		{Name: "beforeReadFile", Kind: BeforeTool, Again: true, form: &cursorBefore, tool: "Read",
			single: "file_path"},
	},
	Reports: "postToolUse=PostToolUse postToolUseFailure=PostToolUseFailure sessionStart=SessionStart " +
		"beforeSubmitPrompt=UserPromptSubmit stop=Stop sessionEnd=SessionEnd",
	Others: "afterShellExecution afterMCPExecution afterFileEdit beforeTabFileRead afterTabFileEdit " +
		"afterAgentResponse afterAgentThought subagentStart subagentStop preCompact",
	Marks:        [][]string{{"cursor_version"}},
	Tools:        "Read Write Edit StrReplace=Edit Delete LS Glob Grep WebFetch=WebFetch?url WebSearch TodoWrite Task",
	Special:      []Tool{{Name: "Shell", As: "Bash", Dir: "working_directory"}},
	StartsClaude: true,
	Holes: []umpire.Phrase{holeNoMode, "its agents in the cloud and completions in the editor are not seen",
		holeNoRewrite},
	Version: "2026-09",
	fields: fields{
		event: "hook_event_name", session: "conversation_id", dir: "cwd", project: "workspace_roots",
		tool: "tool_name", input: "tool_input", id: "tool_use_id", response: "tool_output", failure: "error_message",
	},
}

// crush is Charm's Crush. Hooks are not told of crush run and --yolo. The actions of its agent tool
// are not visible.
var crush = Host{
	Caller: &relay.Crush, Title: "Crush", Program: []string{"crush"},
	Settings: Settings{FormatJSON, ".config/crush/crush.json", "crush.json", "XDG_CONFIG_HOME"},
	Decides:  []HookEvent{{Name: "PreToolUse", Kind: BeforeTool, form: &crushBefore}},
	Marks:    [][]string{{"event", "tool_name"}},
	Tools: "job_output=BashOutput job_kill=KillShell view=Read write=Write edit=Edit multiedit=Edit ls=LS glob=Glob " +
		"grep=Grep fetch=WebFetch?url web_fetch=WebFetch?url sourcegraph=WebSearch web_search=WebSearch " +
		"todos=TodoWrite agent=Workflow lsp_diagnostics=LSP",
	Special: []Tool{{Name: "bash", As: "Bash", Dir: "working_dir"}},
	Shells:  shellOwn, Holds: holdsRest,
	Holes: []umpire.Phrase{holeBadAnswer, holeNoMode, holeEqualCalls,
		"what its sub-agents do is not seen, so starting one asks", holeNoRewrite},
	Evidence: Recorded, Version: "0.96.1",
	fields: fields{event: "event", session: "session_id", dir: "cwd", tool: "tool_name", input: "tool_input"},
}

// cline is Cline. It cannot ask, and its hooks cannot allow: a hook cancels a call, or does
// nothing, and is not told of its auto-approval. It asks about every call of a message before one
// of them runs, and a cancelled call ends the agent's run. The file of its settings is the hook
// itself: a program that starts umpire's. Its tools from execute_command on are those of its
// releases before 3.
var cline = Host{
	Caller: &relay.Cline, Title: "Cline", Program: []string{"cline"},
	Settings: Settings{FormatPlugin, "Documents/Cline/Hooks/PreToolUse", ".clinerules/hooks/PreToolUse", ""},
	Decides:  []HookEvent{{Name: "tool_call", Kind: BeforeTool, form: &clineBefore}},
	Others:   "tool_result prompt_submit agent_start agent_end agent_abort agent_error session_shutdown",
	Marks:    [][]string{{"clineVersion"}},
	Tools: "read_files=Read editor=Edit apply_patch=Edit?input search_codebase=Grep fetch_web_content=WebFetch " +
		"spawn_agent=Task skills=Skill ask_question=AskUserQuestion execute_command=Bash bash=Bash read_file=Read " +
		"write_to_file=Write replace_in_file=Edit list_files=LS list_code_definition_names=LS " +
		"web_fetch=WebFetch?url web_search=WebSearch new_task=Task ask_followup_question=AskUserQuestion " +
		"plan_mode_respond=ExitPlanMode",
	Special: []Tool{
		{Name: "run_commands", As: "Bash", From: "commands", To: "command"},
		{Name: "search_files", As: "Grep", From: "regex", To: "pattern"},
	},
	timeout: 120 * time.Second, Holds: holdsAll,
	Holes:    []umpire.Phrase{holeBadAnswer, holeNoMode, holeAskedAgain, holeLate, HoleEndsAtDenial, holeNoRewrite},
	Evidence: Driven, Version: "3.0.65",
	fields: fields{
		event: "hookName", session: "taskId", project: "workspaceRoots", dir: "workspaceRoots",
		agentType: "parent_agent_id", tool: "tool_call.name", input: "tool_call.input", id: "tool_call.id",
	},
	eventOf: clineEvent, complete: completeCline,
}

// kiro is Kiro, the editor and the program. Only the exit code decides. Tools may be trusted
// beforehand.
var kiro = Host{
	Caller: &relay.Kiro, Title: "Kiro", Program: []string{"kiro-cli", "kiro"},
	Settings: Settings{FormatJSON, ".kiro/hooks/umpire.json", ".kiro/hooks/umpire.json", ""},
	Decides: []HookEvent{
		{Name: "PreToolUse", Kind: BeforeTool, form: &exitOnly},
		{Name: "preToolUse", Kind: BeforeTool, form: &exitOnly},
	},
	Reports: "PostToolUse postToolUse=PostToolUse",
	Others:  "agentSpawn userPromptSubmit stop AgentSpawn UserPromptSubmit Stop SessionStart",
	Tools: "execute_bash=Bash shell=Bash fs_read=Read?path read=Read?path fs_write=Write write=Write glob=Glob " +
		"grep=Grep thinking=TodoRead todo_list=TodoWrite introspect=ToolSearch",
	Holes:   []umpire.Phrase{holeNoMode, holeEqualCalls, holeLate, holeNoRewrite},
	Version: "3.0",
	fields: fields{
		event: "hook_event_name", session: "session_id", dir: "cwd",
		tool: "tool_name", input: "tool_input", response: "tool_response",
	},
}

// droid is Factory's Droid, whose hooks are Claude Code's.
var droid = Host{
	Caller: &relay.Droid, Title: "Factory Droid", Program: []string{"droid"},
	Settings: Settings{FormatJSON, ".factory/hooks.json", ".factory/hooks.json", ""},
	Decides:  []HookEvent{{Name: "PreToolUse", Kind: BeforeTool, form: &noAllow}},
	Reports:  "PostToolUse SessionStart UserPromptSubmit Stop SessionEnd",
	Others:   "Notification SubagentStop PreCompact",
	Tools: "Execute=Bash Create=Write Edit MultiEdit=Edit Read Grep FetchUrl=WebFetch?url WebSearch TodoWrite Task " +
		"Skill AskUser=AskUserQuestion ExitSpecMode=ExitPlanMode",
	Special: []Tool{
		{Name: "LS", As: "LS", From: "directory_path", To: "path"},
		{Name: "Glob", As: "Glob", From: "folder", To: "path"},
	},
	modes: []HostMode{
		{"", Default, SilenceRuns}, {"default", Default, SilenceRuns}, {"acceptEdits", AcceptEdits, SilenceRuns},
		{"plan", Plan, SilenceRuns}, {"spec", Plan, SilenceRuns}, {"bypassPermissions", Bypass, SilenceRuns},
	},
	Holds: holdsCall, Holes: []umpire.Phrase{holeLate, holeNoRewrite},
	Version: "2026-10", fields: claudeFields,
}

// windsurf is Windsurf's Cascade. Each kind of tool is a separate event, and only the exit code
// decides. Hooks are not told of its turbo mode.
var windsurf = Host{
	Caller: &relay.Windsurf, Title: "Windsurf", Program: []string{"windsurf"},
	Settings: Settings{FormatJSON, ".codeium/windsurf/hooks.json", ".windsurf/hooks.json", ""},
	Decides: []HookEvent{
		{Name: "pre_run_command", Kind: BeforeTool, form: &exitOnly, tool: "run_command"},
		{Name: "pre_write_code", Kind: BeforeTool, form: &exitOnly, tool: "write_code"},
		{Name: "pre_read_code", Kind: BeforeTool, form: &exitOnly, tool: "read_code"},
		{Name: "pre_mcp_tool_use", Kind: BeforeTool, form: &exitOnly, tool: "mcp_tool_use"},
	},
	Reports: "pre_user_prompt=UserPromptSubmit",
	Others: "post_run_command post_write_code post_read_code post_mcp_tool_use post_cascade_response " +
		"post_setup_worktree",
	Marks:   [][]string{{"agent_action_name"}},
	Tools:   "write_code=Edit read_code=Read",
	Special: []Tool{{Name: "run_command", As: "Bash", From: "command_line", To: "command", Dir: "cwd"}},
	timeout: 60 * time.Second,
	Holes:   []umpire.Phrase{holeNoMode, holeEqualCalls, holeLate, holeNoRewrite},
	Version: "2026-09",
	fields: fields{
		event: "agent_action_name", session: "trajectory_id", input: "tool_info",
		server: "tool_info.mcp_server_name", serverTool: "tool_info.mcp_tool_name",
	},
}

// kimi is Moonshot's Kimi Code. Its hooks are Claude Code's, but cannot allow, and are not told of
// its yolo mode.
var kimi = Host{
	Caller: &relay.Kimi, Title: "Kimi Code", Program: []string{"kimi"},
	Settings: Settings{FormatTOML, ".kimi-code/config.toml", "", ""},
	Decides:  []HookEvent{{Name: "PreToolUse", Kind: BeforeTool, form: &noAllow}},
	Reports:  "PostToolUse PostToolUseFailure SessionStart UserPromptSubmit Stop SessionEnd",
	Others:   "Notification PreCompact SubagentStart SubagentStop StopFailure",
	Marks:    [][]string{{"tool_call_id", "hook_event_name", "!tool_use_id"}},
	Tools: "Bash Read Write Edit Glob Grep FetchURL=WebFetch?url WebSearch TodoList=TodoWrite Agent=Task " +
		"AskUserQuestion",
	Holes:   []umpire.Phrase{holeNoMode, holeLate, holeNoRewrite},
	Version: "2026-11",
	fields: fields{
		event: "hook_event_name", session: "session_id", dir: "cwd",
		tool: "tool_name", input: "tool_input", id: "tool_call_id", response: "tool_output", failure: "error",
	},
}

// antigravity is Google's Antigravity CLI. It blocks a call if the hook prints nothing; its allow
// grants nothing.
var antigravity = Host{
	Caller: &relay.Antigravity, Title: "Antigravity", Program: []string{"agy"},
	Settings: Settings{FormatJSON, ".gemini/config/hooks.json", ".agents/hooks.json", ""},
	Decides:  []HookEvent{{Name: "PreToolUse", Kind: BeforeTool, form: &antigravityBefore}},
	Marks:    [][]string{{"toolCall"}},
	Special: []Tool{
		{Name: "run_command", As: "Bash", From: "CommandLine", To: "command", Dir: "Cwd"},
		{Name: "view_file", As: "Read", From: "AbsolutePath", To: "file_path"},
		{Name: "write_to_file", As: "Write", From: "TargetFile", To: "file_path"},
		{Name: "replace_file_content", As: "Edit", From: "TargetFile", To: "file_path"},
		{Name: "list_dir", As: "LS", From: "DirectoryPath", To: "path"},
		{Name: "grep_search", As: "Grep", From: "SearchPath", To: "path"},
		{Name: "read_url_content", As: "WebFetch", From: "Url", To: "url", Needs: "Url"},
	},
	timeout: 60 * time.Second,
	Holes:   []umpire.Phrase{holeNoMode, holeEqualCalls, holeNoRewrite},
	Version: "1.1.2",
	fields: fields{
		session: "conversationId", project: "workspacePaths", dir: "workspacePaths",
		tool: "toolCall.name", input: "toolCall.args",
	},
	eventOf: func(strictjson.Object) string { return "PreToolUse" },
}

// grok is xAI's Grok CLI. It also starts Claude Code's hooks, unless its settings disable this. Its
// own hooks apply in always-approve mode, but are not told of it.
var grok = Host{
	Caller: &relay.Grok, Title: "Grok CLI", Program: []string{"grok"},
	Settings: Settings{FormatJSON, ".grok/hooks/umpire.json", ".grok/hooks/umpire.json", ""},
	Decides:  []HookEvent{{Name: "PreToolUse", Kind: BeforeTool, form: &grokBefore}},
	Reports:  "PostToolUse",
	Others:   "SessionStart SessionEnd UserPromptSubmit Stop Notification",
	Marks:    [][]string{{"toolInput", "workspaceRoot"}},
	Tools: "bash=Bash Bash run_terminal_command=Bash read_file=Read view_file=Read create_file=Write " +
		"write_file=Write str_replace_editor=Edit search_replace=Edit list_dir=LS grep=Grep todo_write=TodoWrite",
	timeout: 60 * time.Second, StartsClaude: true,
	Holes:   []umpire.Phrase{holeNoMode, holeLate, holeNoRewrite},
	Version: "0.2.106",
	fields: fields{
		event: "hookEventName", session: "sessionId", dir: "cwd", project: "workspaceRoot",
		tool: "toolName", input: "toolInput", id: "toolUseId", response: "toolResult",
	},
}
