# Completions of svc for fish.
function __svc_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] __complete -- $words[2..] "$current" 2>/dev/null)
    set -q lines[1]; or return
    set -l how $lines[-1]
    set -e lines[-1]
    if string match -q ':files*' -- $how
        set -l before (string replace -r '^:files ?' '' -- $how)
        set -l path (string sub -s (math (string length -- "$before") + 1) -- "$current")
        for each in (__fish_complete_path "$path")
            echo -- $before$each
        end
        return
    end
    printf '%s\n' $lines
end
complete -c svc -f -a '(__svc_complete)'
