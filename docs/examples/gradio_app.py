"""Burnish in a Gradio app (tried with 6.31): pip install gradio, then python docs/examples/gradio_app.py.

A refresh closes Gradio's generator. This one only reads: the run goes on, and the page, which knows its id, joins it.
"""

import html

import gradio as gr

import burnish

RUNS = {}


def begin(sentence):
    """Begin a run of the model that the settings name; its id."""
    try:
        run = burnish.start(burnish.build_request(sentence))
    except burnish.SetupProblem as problem:  # Gradio shows messages as HTML
        raise gr.Error(html.escape(str(problem)), print_exception=False) from problem
    RUNS[run.id] = run
    return run.id


def follow(run_id):
    """Show a run from its first step, to whoever comes and as often as they come."""
    steps = ""
    for words in RUNS[run_id].sentences() if run_id in RUNS else ():
        steps += f"{words}\n"
        yield steps, RUNS[run_id].code


with gr.Blocks(title="Burnish", analytics_enabled=False) as page:
    run_id, sentence = gr.BrowserState("", storage_key="burnish-run"), gr.Textbox(label="What should be written?")
    start, stop = gr.Button("Start", variant="primary"), gr.Button("Stop")
    shown = [gr.Textbox(label="What happens", lines=12), gr.Code(label="Code", language="python")]
    start.click(begin, sentence, run_id).success(follow, run_id, shown, concurrency_limit=20)
    stop.click(lambda run_id: run_id in RUNS and RUNS[run_id].stop(), run_id)
    page.load(follow, run_id, shown, concurrency_limit=20)
page.launch()
