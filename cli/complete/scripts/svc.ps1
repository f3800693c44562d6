# Completions of svc for PowerShell, which passes no empty words to programs, and
# completes files by itself where there is no answer.
Register-ArgumentCompleter -Native -CommandName svc -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $before = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
    if ($wordToComplete) { $lines = @(svc __complete '--' @before $wordToComplete) }
    else { $lines = @(svc __complete --empty '--' @before) }
    $lines | Where-Object { $_ -and -not $_.StartsWith(':') } | ForEach-Object {
        $word, $about = $_ -split [char]9, 2
        if (-not $about) { $about = $word }
        # A name may hold what is a command to a shell.
        $text = if ($word -match '^[\w./:=+%-]*$') { $word } else { "'" + $word.Replace("'", "''") + "'" }
        [System.Management.Automation.CompletionResult]::new($text, $word, 'ParameterValue', $about)
    }
}
