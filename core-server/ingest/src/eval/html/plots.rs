//! The plots of a report, as SVG.
//!
//! Colours can be told apart by people who do not see all of them (Okabe and Ito), and every figure stands in a table too.
//!
//! Deliberately left out: legends, which the page has beside each plot.

use std::fmt::Display;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::error::{Error, Result};
use crate::eval::asking::{AskedMode, STAGES};
use crate::eval::history::Entry;
use crate::eval::metrics::Metric;
use crate::eval::report::Report;

const WIDTH: u32 = 900;
const HEIGHT: u32 = 320;
const INK: RGBColor = RGBColor(29, 35, 41);
const LINE: RGBColor = RGBColor(221, 226, 230);
const GAIN: RGBColor = RGBColor(0, 158, 115);
const LOSS: RGBColor = RGBColor(213, 94, 0);

/// The share of a group's width that its bars have together.
const FILLED: f64 = 0.75;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Bars of all metrics, grouped, a bar a mode.
pub(super) fn quality(report: &Report) -> Result<String> {
    let groups = Metric::ALL.map(Metric::title);
    svg(|area| {
        let mut chart =
            chart(area).build_cartesian_2d(0.0..count(groups.len()), 0.0..1.0_f64).map_err(failed)?;
        let label = |at: &f64| named(&groups, *at);
        axes(&mut chart, groups.len(), &label, &|value| format!("{value:.1}"))?;
        for (at, mode) in report.modes.iter().enumerate() {
            let color = color(mode.mode);
            let bars = Metric::ALL.iter().enumerate().filter_map(|(group, metric)| {
                let (left, right) = slot(group, at, report.modes.len());
                Some((left, right, *mode.metrics.get(metric)?))
            });
            let bars: Vec<_> = bars.collect();
            let filled = bars
                .iter()
                .map(|(left, right, bar)| Rectangle::new([(*left, 0.0), (*right, bar.mean)], color.filled()));
            chart.draw_series(filled).map_err(failed)?;
            let whiskers = bars.iter().map(|(left, right, bar)| {
                ErrorBar::new_vertical(
                    f64::midpoint(*left, *right),
                    bar.low,
                    bar.mean,
                    bar.high,
                    INK.filled(),
                    8,
                )
            });
            chart.draw_series(whiskers).map_err(failed)?;
        }
        Ok(())
    })
}

/// Mean recall against depth, a line a mode.
pub(super) fn recall(report: &Report) -> Result<String> {
    svg(|area| {
        let deepest = report.settings.depth.min(100);
        let depths = (1.0..count(deepest)).log_scale();
        let mut chart = chart(area).build_cartesian_2d(depths, 0.0..1.0_f64).map_err(failed)?;
        let mut mesh = chart.configure_mesh();
        mesh.light_line_style(TRANSPARENT).bold_line_style(LINE).axis_style(LINE).label_style(text());
        mesh.x_label_formatter(&|depth| format!("{depth:.0}"))
            .x_desc("among the first")
            .draw()
            .map_err(failed)?;
        for mode in &report.modes {
            let color = color(mode.mode);
            let points: Vec<(f64, f64)> =
                mode.recall.iter().map(|point| (count(point.depth), point.recall)).collect();
            let line = LineSeries::new(points, color.stroke_width(2)).point_size(3);
            chart.draw_series(line).map_err(failed)?;
        }
        Ok(())
    })
}

/// One bar a query, in the order given.
pub(super) fn differences(values: &[f64]) -> Result<String> {
    svg(|area| {
        let all = 0.0..count(values.len().max(1));
        let mut chart = chart(area).build_cartesian_2d(all, -1.0..1.0_f64).map_err(failed)?;
        axes(&mut chart, 10, &|_| String::new(), &|value| format!("{value:+.1}"))?;
        let bars = values.iter().enumerate().map(|(at, value)| {
            let color = if *value < 0.0 { LOSS } else { GAIN };
            Rectangle::new([(count(at), 0.0), (count(at + 1), *value)], color.filled())
        });
        chart.draw_series(bars).map_err(failed)?;
        Ok(())
    })
}

/// From p50 to p95 of every stage, grouped, one a mode.
pub(super) fn latency(report: &Report) -> Result<String> {
    let times: Vec<f64> = report
        .modes
        .iter()
        .flat_map(|mode| mode.latency.values())
        .flat_map(|time| [time.p50, time.p95])
        .collect();
    let least = times.iter().copied().filter(|time| *time > 0.0).fold(1.0, f64::min);
    let most = times.iter().copied().fold(1.0, f64::max);
    svg(|area| {
        let all = (least / 2.0..most * 2.0).log_scale();
        let mut chart = chart(area).build_cartesian_2d(0.0..count(STAGES.len()), all).map_err(failed)?;
        let mut mesh = chart.configure_mesh();
        mesh.light_line_style(TRANSPARENT).bold_line_style(LINE).axis_style(LINE).label_style(text());
        mesh.disable_x_mesh().x_labels(2 * STAGES.len() + 1).y_desc("ms");
        mesh.x_label_formatter(&|at| named(&STAGES, *at)).draw().map_err(failed)?;
        for (at, mode) in report.modes.iter().enumerate() {
            let color = color(mode.mode);
            let ranges: Vec<(f64, f64, f64)> = STAGES
                .iter()
                .enumerate()
                .filter_map(|(group, stage)| {
                    let (left, right) = slot(group, at, report.modes.len());
                    let time = mode.latency.get(*stage)?;
                    Some((f64::midpoint(left, right), time.p50.max(least / 2.0), time.p95))
                })
                .collect();
            let bars = ranges
                .iter()
                .map(|(x, p50, p95)| PathElement::new([(*x, *p50), (*x, *p95)], color.stroke_width(4)));
            chart.draw_series(bars).map_err(failed)?;
            let points = ranges.iter().map(|(x, p50, _)| Circle::new((*x, *p50), 5, color.filled()));
            chart.draw_series(points).map_err(failed)?;
        }
        Ok(())
    })
}

/// nDCG@10 of run after run, a line a mode.
pub(super) fn history(runs: &[Entry]) -> Result<String> {
    let of = |mode: AskedMode| {
        let values = runs.iter().enumerate();
        let values = values.filter_map(move |(at, run)| {
            Some((count(at), *run.modes.get(&mode)?.metrics.get(&Metric::Ndcg10)?))
        });
        values.collect::<Vec<(f64, f64)>>()
    };
    let all: Vec<f64> = AskedMode::ALL.into_iter().flat_map(of).map(|(_, value)| value).collect();
    let (least, most) = (all.iter().copied().fold(1.0, f64::min), all.iter().copied().fold(0.0, f64::max));
    svg(|area| {
        let values = (least - 0.01).max(0.0)..(most + 0.01).min(1.0);
        let mut chart = chart(area).build_cartesian_2d(0.0..count(runs.len() - 1), values).map_err(failed)?;
        axes(&mut chart, 10, &|_| String::new(), &|value| format!("{value:.3}"))?;
        for mode in AskedMode::ALL {
            let (color, points) = (color(mode), of(mode));
            if points.is_empty() {
                continue;
            }
            let line = LineSeries::new(points, color.stroke_width(2)).point_size(3);
            chart.draw_series(line).map_err(failed)?;
        }
        Ok(())
    })
}

fn svg(draw: impl FnOnce(&Area<'_>) -> Result<()>) -> Result<String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, HEIGHT)).into_drawing_area();
        draw(&area)?;
        area.present().map_err(failed)?;
    }
    Ok(text)
}

fn chart<'a, 'b>(area: &'a Area<'b>) -> ChartBuilder<'a, 'b, SVGBackend<'b>> {
    let mut chart = ChartBuilder::on(area);
    chart.margin(12).x_label_area_size(36).y_label_area_size(56);
    chart
}

type Chart<'a, 'b> = ChartContext<
    'a,
    SVGBackend<'b>,
    Cartesian2d<plotters::coord::types::RangedCoordf64, plotters::coord::types::RangedCoordf64>,
>;

fn axes(
    chart: &mut Chart<'_, '_>,
    groups: usize,
    x: &dyn Fn(&f64) -> String,
    y: &dyn Fn(&f64) -> String,
) -> Result<()> {
    let mut mesh = chart.configure_mesh();
    mesh.light_line_style(TRANSPARENT).bold_line_style(LINE).axis_style(LINE).label_style(text());
    mesh.disable_x_mesh().x_labels(2 * groups + 1).x_label_formatter(x).y_labels(6).y_label_formatter(y);
    mesh.draw().map_err(failed)
}

fn text<'a>() -> TextStyle<'a> {
    TextStyle::from(("sans-serif", 14)).color(&INK)
}

/// Where the bar of the `at`th of `of` modes stands in a group.
fn slot(group: usize, at: usize, of: usize) -> (f64, f64) {
    let width = FILLED / count(of.max(1));
    let left = count(group) + (1.0 - FILLED) / 2.0 + count(at) * width;
    (left, left + width * 0.92)
}

/// The name of the group in whose middle a label stands.
fn named(groups: &[&str], at: f64) -> String {
    let Range { start, end } = 0.45..0.55;
    if !(start..end).contains(&at.fract()) {
        return String::new();
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position on a short axis")]
    let group = at.floor().max(0.0) as usize;
    groups.get(group).map_or_else(String::new, |name| (*name).to_owned())
}

fn color(mode: AskedMode) -> RGBColor {
    match mode {
        AskedMode::Bm25 => RGBColor(0, 114, 178),
        AskedMode::Dense => RGBColor(230, 159, 0),
        AskedMode::Hybrid => RGBColor(0, 158, 115),
        AskedMode::Rerank => RGBColor(204, 121, 167),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a position on an axis")]
fn count(number: usize) -> f64 {
    number as f64
}

fn failed(error: impl Display) -> Error {
    Error::Plot(error.to_string())
}
