# Completions of svc for bash.
# Bash cuts words at = and :, which belong to words here, and replaces only what
# follows the last cut. So words are put together again, and what precedes the cut is
# taken off every answer. It puts words in as they are: here they are quoted, because a
# name may hold what is a command to a shell.
_svc() {
  local rest=${COMP_LINE:0:COMP_POINT} piece= i how word
  local -a words=() lines=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    piece=${COMP_WORDS[i]}
    ((i == COMP_CWORD)) && piece=${rest#"${rest%%[![:space:]]*}"}
    if ((i > 0)) && [[ $rest != [[:space:]]* && -n $rest ]]; then words[-1]+=$piece; else words+=("$piece"); fi
    rest=${rest#"${rest%%[![:space:]]*}"}
    rest=${rest#"$piece"}
  done
  local current=${words[-1]}
  local before=${current%"$2"}
  mapfile -t lines < <("$1" __complete -- "${words[@]:1}" 2>/dev/null)
  ((${#lines[@]} > 0)) || return
  how=${lines[-1]}
  unset 'lines[-1]'
  COMPREPLY=()
  if [[ $how == :files* ]]; then
    local path=${how#:files}
    path=${path# }
    # Otherwise bash would put a backslash before an @.
    local quotes=
    if [[ $before == "$path"* ]]; then compopt -o filenames; else quotes=yes; fi
    while IFS= read -r word; do
      [[ $quotes ]] && printf -v word %q "$word"
      word=$path$word
      COMPREPLY+=("${word#"$before"}")
    done < <(compgen -f -- "${current#"$path"}")
    return
  fi
  [[ $how == :nospace ]] && compopt -o nospace
  for word in "${lines[@]}"; do
    word=${word%%$'\t'*}
    printf -v word %q "${word#"$before"}"
    COMPREPLY+=("$word")
  done
}
complete -F _svc svc
