/** Scripts for shells: each asks the command itself for what may follow, so they never fall behind it. */

/** For bash 3.2 (macOS) and later. bash cuts words at `=` and `:`; they are joined again, and candidates lose the joined part. */
const bash = String.raw`# Completion of waybill for bash: eval "$(waybill completion bash)"
_waybill() {
  local typed=() word glued="" at last="" kind="" prefix
  for ((at = 1; at <= COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    if [[ \${#typed[@]} -gt 0 && ( $glued == 1 || $word == [=:]* ) ]]; then
      last=$((\${#typed[@]} - 1))
      typed[last]=\${typed[last]}$word
    else
      typed+=("$word")
    fi
    glued=""
    if [[ $word == *[=:] ]]; then glued=1; fi
  done
  word=\${COMP_WORDS[COMP_CWORD]}
  if [[ $glued == 1 ]]; then word=""; fi
  last=\${typed[\${#typed[@]} - 1]}
  prefix=\${last%"$word"}
  COMPREPLY=()
  while IFS= read -r at; do
    if [[ $kind == "" ]]; then kind=$at; continue; fi
    at=\${at%%$'\t'*}
    COMPREPLY+=("\${at#"$prefix"}")
  done < <("\${COMP_WORDS[0]}" complete -- "\${typed[@]}" 2>/dev/null)
  if [[ $kind == files || $kind == folders ]]; then
    compopt -o filenames 2>/dev/null
    at=-f
    if [[ $kind == folders ]]; then at=-d; fi
    while IFS= read -r last; do COMPREPLY+=("$last"); done < <(compgen $at -- "$word")
  fi
}
complete -F _waybill waybill
`.replaceAll("\\$", "$");

const zsh = String.raw`#compdef waybill
# Completion of waybill for zsh: eval "$(waybill completion zsh)" after compinit, or this text as the file _waybill of a
# folder in fpath.
_waybill() {
  local -a lines values
  local line kind
  lines=("\${(@f)$("\${(Q)words[1]}" complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  kind=$lines[1]
  shift lines
  case $kind in
    files) [[ $PREFIX == --*=* ]] && compset -P '*='; _files ;;
    folders) [[ $PREFIX == --*=* ]] && compset -P '*='; _files -/ ;;
    words)
      for line in $lines; do values+=("\${\${line%%$'\t'*}//:/\\:}:\${line#*$'\t'}"); done
      _describe waybill values ;;
  esac
}
if [[ $funcstack[1] == _waybill ]]; then _waybill "$@"; else compdef _waybill waybill; fi
`.replaceAll("\\$", "$");

const fish = String.raw`# Completion of waybill for fish: waybill completion fish | source
function __waybill_complete
  set -l typed (commandline -opc)
  set -l program $typed[1]
  set -e typed[1]
  set -l current (commandline -ct)
  set -l lines ($program complete -- $typed "$current" 2>/dev/null)
  set -l kind $lines[1]
  set -e lines[1]
  set -l prefix (string match -r -- '^--[^=]*=' "$current")
  set -l rest (string replace -r -- '^--[^=]*=' '' "$current")
  switch "$kind"
    case files
      for path in (__fish_complete_path "$rest")
        echo "$prefix$path"
      end
    case folders
      for path in (__fish_complete_directories "$rest" '')
        echo "$prefix$path"
      end
    case words
      string join \n -- $lines
  end
end
complete -c waybill -f -a '(__waybill_complete)'
`;

export const SCRIPTS = { bash, zsh, fish } as const;

export type Shell = keyof typeof SCRIPTS;
