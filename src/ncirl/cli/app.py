"""The commands put together, and the one place that turns exceptions into messages and exit codes.

Exit codes: 0 done, 1 a check failed, 2 bad input or usage, 3 a limit of time or memory came before there was anything
to say, 130 interrupted (what was proved by then is said and written), 141 nobody read the output.
"""

import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Literal

from cyclopts import App, CycloptsError, Parameter

from ncirl import __version__
from ncirl.cli import (
    INTERRUPTED,
    combine,
    cross_play,
    defend,
    demo,
    example,
    export,
    generate,
    harden,
    import_,
    reduce,
    report,
    reproduce,
    sensitivity,
    serve,
    show,
    simulate,
    solve,
    verify,
)
from ncirl.cli.output import PlainConsole, complain, print_json
from ncirl.cli.wrong_file import named_for_what_it_is
from ncirl.errors import InputError, LimitError, NcirlError, SizeError, WrongFile

__all__ = ["app", "main"]

FAILED, BAD_INPUT, STOPPED, UNREAD = 1, 2, 3, 141

app = App(
    name="ncirl",
    help="""Decide what to block when nobody knows what the intruder is after; prove how much it can still get.

    Start with `ncirl demo`, then `ncirl solve builtin:patrol --horizon 2`.""",
    version=__version__,
    suppress_keyboard_interrupt=False,
)


def completion(
    shell: Annotated[
        Literal["bash", "zsh", "fish", "powershell"] | None, Parameter(help="The shell; the one in use if not given.")
    ] = None,
    /,
    *,
    json: Annotated[bool, Parameter(name="--json", negative="", help="Print one JSON object.")] = False,
) -> None:
    """Print the script that lets a shell complete what `ncirl` understands.

    Keep it where the shell looks, such as ~/.local/share/bash-completion/completions/ncirl, ~/.zfunc/_ncirl or
    ~/.config/fish/completions/ncirl.fish.

    Example: `ncirl completion bash`, `ncirl completion zsh --json`
    """
    from cyclopts.completion.detect import ShellDetectionError, detect_shell

    try:
        chosen = shell or detect_shell()
    except ShellDetectionError:
        raise InputError("shell: cannot tell which is in use; say bash, zsh, fish or powershell") from None
    script = app.generate_completion(prog_name="ncirl", shell=chosen)
    script = script.replace("complete -F _ncirl ncirl", "complete -o default -F _ncirl ncirl")  # bash: files too
    if json:
        print_json("completion", {"shell": chosen, "script": script})
    else:
        sys.stdout.write(script)


for command in (
    combine.combine,
    completion,
    cross_play.cross_play,
    defend.defend,
    demo.demo,
    example.example,
    export.export,
    generate.generate,
    harden.harden,
    reduce.reduce,
    report.report,
    reproduce.reproduce,
    sensitivity.sensitivity,
    serve.serve,
    show.show,
    simulate.simulate,
    solve.solve,
    verify.verify,
):
    app.command(command)
app.command(import_.import_, name="import")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``ncirl``; those of the process by default.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name may not fit the terminal's encoding
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        code = app(
            words,
            console=PlainConsole(),
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
        sys.stdout.flush()
        return code or 0
    except CycloptsError as error:
        complain(f"{error}\nSee `{' '.join(['ncirl', *(error.command_chain or ()), '--help'])}`.")
        return BAD_INPUT
    except LimitError as error:
        complain(str(error))
        return STOPPED
    except WrongFile as error:
        complain(named_for_what_it_is(error))
        return BAD_INPUT
    except (InputError, SizeError) as error:
        complain(str(error))
        return BAD_INPUT
    except NcirlError as error:
        complain(str(error))
        return FAILED
    except KeyboardInterrupt as interruption:
        complain(str(interruption) or "interrupted")
        return INTERRUPTED
    except MemoryError:
        complain("there is not enough memory for this; allow it more, or ask it of a smaller game")
        return STOPPED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the last flush must not fail again
        return UNREAD
    except OSError as error:
        complain(f"{error.filename or 'output'}: {error.strerror}")
        return BAD_INPUT
