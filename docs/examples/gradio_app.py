"""Burnish in a Gradio app, by its Python handle: pip install gradio, then python docs/examples/gradio_app.py MODEL.

Tried with Gradio 6.31. Gradio closes a generator when its page is refreshed. Here the generator only reads: the run
goes on, and the page, which remembers the run's id, joins it again and shows it from its first step.
"""

import html
import sys
from collections.abc import Iterator

import burnish
from burnish.report.narrate import describe
from burnish.runs.attempt import RunHandle

RUNS: dict[str, RunHandle] = {}


def main(model: str) -> None:
    """Serve one page on this machine."""
    import gradio as gr

    def begin(sentence: str) -> str:
        try:
            handle = burnish.start(burnish.build_request(sentence, model=model, fast=True))
        except burnish.SetupProblem as problem:  # Gradio shows messages as HTML
            raise gr.Error(html.escape(str(problem)), print_exception=False) from problem
        RUNS[handle.id] = handle
        return handle.id

    def follow(run_id: str) -> Iterator[tuple[str, str]]:
        if handle := RUNS.get(run_id):
            steps = ""
            for event in handle.events():
                if words := describe(event):
                    steps += f"{words}\n"
                    yield steps, ""
            try:
                run = handle.wait()
                yield f"{steps}\n{run.verdict or run.state}", run.code
            except burnish.SetupProblem as problem:
                yield f"{steps}\n{problem}", ""

    def stop(run_id: str) -> None:
        if handle := RUNS.get(run_id):
            handle.stop()

    with gr.Blocks(title="Burnish", analytics_enabled=False) as page:
        run_id = gr.BrowserState("", storage_key="burnish-run")
        sentence = gr.Textbox(label="What should be written?")
        with gr.Row():
            begins, stops = gr.Button("Start", variant="primary"), gr.Button("Stop")
        shown = [gr.Textbox(label="What happens", lines=12), gr.Code(label="Code", language="python")]
        following = {"fn": follow, "inputs": run_id, "outputs": shown, "concurrency_limit": 20}
        begins.click(begin, sentence, run_id).success(**following)
        stops.click(stop, run_id)
        page.load(**following)
    page.launch()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "auto")
