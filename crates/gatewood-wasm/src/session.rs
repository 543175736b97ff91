//! What a page works with, and what it may ask.

use gatewood::encode::{Column, ImageShape, Numbers, Table};
use gatewood::export::{ExplorerOptions, ExplorerRows, Format, ModelOptions, explorer_data, write_model};
use gatewood::learn::Observer;
use gatewood::model::{Circuit, LabelledRows, Metrics, Model, Rows, TrainSettings, Trained, Training, train};
use gatewood::{Error, Result};
use gatewood_data::read::ImageFolder;
use gatewood_data::{Dataset, LoadOptions, Split, holdout, load_bytes, load_digits, load_images, load_made};
use serde_json::{Value, json};

use crate::message::{join, split};

/// Rows and a model, and the questions about them. A question is a message whose object says what to do as `ask`:
///
/// - `load`: takes rows, of the named set `set` or of the file named `file` whose bytes are those of the message (for `mnist35` they
///   are those of the set's file), or the `images` whose bytes they are; `holdout` puts a share of them aside for testing;
/// - `learn`: learns a model with `settings`; with `go_on` from the one that is there;
/// - `open`: takes the model file that the message holds;
/// - `map`: what the model says over two columns of numbers, the probability of each class for `width` by `height` places;
/// - `explorer`: what the explorer page shows;
/// - `model`, `export`: the model's file, or one of another `format`.
///
/// An answer has `error` where something went wrong.
#[derive(Debug, Default)]
pub struct Session {
    data: Option<Dataset>,
    model: Option<Model>,
}

impl Session {
    /// Answers a message with a message.
    pub fn answer(&mut self, message: &[u8], observer: &dyn Observer) -> Vec<u8> {
        let answered =
            split(message).and_then(|(request, bytes)| self.do_as_asked(&request, bytes, observer));
        match answered {
            Ok((json, bytes)) => join(&json, &bytes),
            Err(error) => join(&json!({"error": error.to_string()}), &[]),
        }
    }

    fn do_as_asked(
        &mut self,
        request: &Value,
        bytes: &[u8],
        observer: &dyn Observer,
    ) -> Result<(Value, Vec<u8>)> {
        match request["ask"].as_str().unwrap_or_default() {
            "load" => Ok((self.load(request, bytes)?, Vec::new())),
            "learn" => Ok((self.learn(request, observer)?, Vec::new())),
            "open" => {
                self.model = Some(Model::from_bytes(bytes)?);
                Ok((json!({}), Vec::new()))
            }
            "map" => self.map(request),
            "explorer" => Ok((json!({}), self.explorer(request)?.to_string().into_bytes())),
            "model" => Ok((json!({}), self.model()?.to_bytes())),
            "export" => {
                let format: Format = request["format"].as_str().unwrap_or_default().parse()?;
                let mut file = Vec::new();
                write_model(self.model()?, format, &ModelOptions::default(), &mut file)?;
                Ok((json!({}), file))
            }
            other => Err(Error::setting(format!("\"{other}\" is not a question"))),
        }
    }

    fn model(&self) -> Result<&Model> {
        self.model.as_ref().ok_or_else(|| Error::data("there is no model yet"))
    }

    fn data(&self) -> Result<&Dataset> {
        self.data.as_ref().ok_or_else(|| Error::data("there are no rows yet"))
    }

    fn load(&mut self, request: &Value, bytes: &[u8]) -> Result<Value> {
        let options =
            LoadOptions { label: request["label"].as_str().map(str::to_owned), ..LoadOptions::default() };
        let mut data = match (request["set"].as_str(), request["file"].as_str()) {
            (None, Some(name)) if request["images"].is_object() => {
                load_images(name, images(&request["images"], bytes)?, &options)?
            }
            (Some("mnist35"), _) => load_digits(bytes)?,
            (Some(set), _) => {
                let (name, rest) = set.split_once(':').unwrap_or((set, ""));
                let parts = rest.split(',').filter_map(|part| part.split_once('='));
                let chosen: Vec<_> = parts.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
                load_made(name, &chosen)?
            }
            (None, Some(name)) => load_bytes(name, bytes, &options)?,
            (None, None) => return Err(Error::setting("a set or a file is wanted")),
        };
        if let (Some(share), None) = (request["holdout"].as_f64(), &data.test) {
            let parts = holdout(&data.train.labels, share, 0)?;
            data.test = Some(data.train.select_rows(&parts.test)?);
            data.train = data.train.select_rows(&parts.train)?;
        }
        let told = json!({
            "name": data.name,
            "rows": data.train.rows(),
            "test_rows": data.test_rows(),
            "columns": data.train.table.columns(),
            "classes": data.classes(),
            "label": data.label,
            "image": data.image,
            "note": data.note,
        });
        self.data = Some(data);
        self.model = None;
        Ok(told)
    }

    fn learn(&mut self, request: &Value, observer: &dyn Observer) -> Result<Value> {
        let data = self.data()?;
        let chosen = match &request["settings"] {
            Value::Null => json!({}),
            settings => settings.clone(),
        };
        let kind = request["model"].as_str().unwrap_or("grove");
        let settings = TrainSettings {
            encode: data.encode.clone(),
            ..TrainSettings::from_json(kind, &chosen.to_string())?
        };
        let start = if request["go_on"].as_bool() == Some(true) { self.model.as_ref() } else { None };
        let rows = Rows::Raw(data.train.table.view());
        let training = Training {
            train: LabelledRows { rows, labels: &data.train.labels, weights: data.train.weights.as_deref() },
            start,
            label: data.label.as_deref(),
            data: &data.name,
            ..Training::new(rows, &data.train.labels)
        };
        let trained = train(&training, &settings, observer)?;
        let told = told_of(&trained, data)?;
        self.model = Some(trained.model);
        Ok(told)
    }

    fn map(&self, request: &Value) -> Result<(Value, Vec<u8>)> {
        let model = self.model()?;
        let side = |name: &str| {
            request[name].as_u64().filter(|side| (1..=1024).contains(side)).map(|side| side as usize)
        };
        let (Some(width), Some(height)) = (side("width"), side("height")) else {
            return Err(Error::setting("a map has a width and a height of 1 to 1024 places"));
        };
        let (Some(x), Some(y)) = (request["x"].as_str(), request["y"].as_str()) else {
            return Err(Error::setting("a map has columns x and y"));
        };
        // The middle of each place, from 0 to 1; lines from the top.
        let middle = |at: usize, of: usize| (at as f64 + 0.5) / of as f64;
        let places = 0..width * height;
        let across = places.clone().map(|at| middle(at % width, width)).collect();
        let down = places.map(|at| 1.0 - middle(at / width, height)).collect();
        let table = Table::new(vec![
            (x.to_owned(), Column::Number(Numbers::F64(across))),
            (y.to_owned(), Column::Number(Numbers::F64(down))),
        ])?;
        let said = model.predict(&table, 1)?;
        let probabilities = (0..width * height).flat_map(|row| said.probabilities(row).unwrap_or_default());
        let bytes = probabilities.flat_map(|probability| (probability as f32).to_le_bytes()).collect();
        Ok((json!({"classes": model.classes()}), bytes))
    }

    fn explorer(&self, request: &Value) -> Result<Value> {
        let options = ExplorerOptions {
            name: request["name"].as_str().unwrap_or_default().to_owned(),
            rows: request["rows"].as_u64().map_or(ExplorerOptions::default().rows, |rows| rows as usize),
            image: self.data.as_ref().and_then(|data| data.image).filter(|&image| self.suits(image)),
            ..ExplorerOptions::default()
        };
        let rows = self.data.as_ref().map(|data| data.test.as_ref().unwrap_or(&data.train));
        let rows = rows.map(|rows: &Split| ExplorerRows {
            rows: Rows::Raw(rows.table.view()),
            labels: Some(&rows.labels),
        });
        explorer_data(self.model()?, rows.as_ref(), &options)
    }

    /// Whether the rows of the model are images of that shape.
    fn suits(&self, image: ImageShape) -> bool {
        self.model.as_ref().is_some_and(|model| model.encoder().width() == image.columns())
    }
}

/// Images as a page reads them: their sizes and classes, and their bytes.
fn images(told: &Value, bytes: &[u8]) -> Result<ImageFolder> {
    let number = |name: &str| {
        let number = told[name].as_u64().and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| Error::setting(format!("images have no {name}")))
    };
    let list = |name: &str| {
        told[name].as_array().ok_or_else(|| Error::setting(format!("images have no list of {name}")))
    };
    let [width, height, channels] = [number("width")?, number("height")?, number("channels")?];
    let classes =
        list("classes")?.iter().map(|class| class.as_str().unwrap_or_default().to_owned()).collect();
    let labels = list("labels")?.iter().map(|label| label.as_u64().unwrap_or(u64::MAX) as u32).collect();
    let shape = ImageShape { width: width as usize, height: height as usize, channels: channels as usize };
    Ok(ImageFolder { shape, classes, bytes: bytes.to_vec(), labels })
}

/// What there is to tell of a model that was just learned.
fn told_of(trained: &Trained, data: &Dataset) -> Result<Value> {
    let model = &trained.model;
    let mut told = json!({
        "learn_seconds": trained.learn_time.as_secs_f64(),
        "encode_seconds": trained.encode_time.as_secs_f64(),
        "gates": model.circuit().gates(),
        "depth": model.circuit().depth(),
        "bits": model.encoder().bits(),
    });
    if let Circuit::Grove(grove) = model.circuit() {
        told["trees"] = json!(grove.trees().len());
    }
    if let Some(grove) = &trained.grove {
        told["rounds"] = json!(grove.rounds);
        told["curve"] = json!(grove.curve);
    }
    for (name, rows) in [("train", Some(&data.train)), ("test", data.test.as_ref())] {
        let Some(rows) = rows.filter(|rows| rows.labels.values().is_none()) else { continue };
        let said = model.predict_rows(Rows::Raw(rows.table.view()), 1)?;
        let metrics = Metrics::new(model.classes().len(), rows.labels.codes(), &said)?;
        told[format!("{name}_error")] = json!(metrics.error);
        told[format!("{name}_log_loss")] = json!(metrics.log_loss);
    }
    Ok(told)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatewood::learn::Silent;

    fn ask(session: &mut Session, request: &Value, bytes: &[u8]) -> (Value, Vec<u8>) {
        let answer = session.answer(&join(request, bytes), &Silent);
        let (json, bytes) = split(&answer).unwrap();
        (json, bytes.to_vec())
    }

    #[test]
    fn points_are_learned_and_mapped() {
        let mut session = Session::default();
        let mut text = String::from("x,y,class\n");
        for row in 0..200 {
            let (x, y) = (f64::from(row % 20) / 20.0, f64::from(row / 20) / 10.0);
            text += &format!("{x},{y},{}\n", if x > 0.5 { "right" } else { "left" });
        }
        let (told, _) = ask(
            &mut session,
            &json!({"ask": "load", "file": "points.csv", "label": "class"}),
            text.as_bytes(),
        );
        assert_eq!((&told["rows"], &told["columns"]), (&json!(200), &json!(2)), "{told}");
        let (told, _) = ask(&mut session, &json!({"ask": "learn", "settings": {"rounds": 8}}), &[]);
        assert_eq!(told["train_error"], 0.0, "{told}");
        let (more, _) =
            ask(&mut session, &json!({"ask": "learn", "settings": {"rounds": 8}, "go_on": true}), &[]);
        assert!(more["trees"].as_u64() > told["trees"].as_u64(), "{more}");
        let request = json!({"ask": "map", "x": "x", "y": "y", "width": 10, "height": 4});
        let (_, map) = ask(&mut session, &request, &[]);
        assert_eq!(map.len(), 10 * 4 * 2 * 4);
        let right = |place: usize| f32::from_le_bytes(map[place * 8 + 4..][..4].try_into().unwrap());
        assert!(right(0) < 0.5 && right(9) > 0.5);
        let (_, explorer) = ask(&mut session, &json!({"ask": "explorer", "name": "points"}), &[]);
        assert_eq!(serde_json::from_slice::<Value>(&explorer).unwrap()["name"], "points");
        let (_, file) = ask(&mut session, &json!({"ask": "model"}), &[]);
        assert!(Model::from_bytes(&file).is_ok());
        let (_, verilog) = ask(&mut session, &json!({"ask": "export", "format": "verilog"}), &[]);
        assert!(String::from_utf8(verilog).unwrap().contains("module"));
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        let mut session = Session::default();
        for request in [
            json!({"ask": "learn"}),
            json!({"ask": "model"}),
            json!({"ask": "map", "width": 0, "height": 1}),
            json!({"ask": "load", "set": "no such set"}),
            json!({"ask": "sing"}),
        ] {
            let (told, _) = ask(&mut session, &request, &[]);
            assert!(told["error"].is_string(), "{request}: {told}");
        }
    }
}
