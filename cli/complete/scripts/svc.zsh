#compdef svc
# Completions of svc for zsh.
_svc() {
  local -a lines described
  local how line
  lines=("${(@f)$("${words[1]}" __complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  how=$lines[-1]
  lines[-1]=()
  if [[ $how == :files* ]]; then
    compset -P "${(b)${${how#:files}# }}"
    _files
    return
  fi
  for line in $lines; do
    described+=("${${line%%$'\t'*}//:/\\:}:${${(M)line%%$'\t'*}#$'\t'}")
  done
  if [[ $how == :nospace ]]; then
    _describe -V svc described -S ''
  else
    _describe -V svc described
  fi
}
if [[ $funcstack[1] == _svc ]]; then
  _svc "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _svc svc
fi
